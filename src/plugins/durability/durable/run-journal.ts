import type { Claim, JournalEntry, KeptEntry } from "../../../contracts/journal.js";
import type { HookRun } from "../../../contracts/run.js";
import type { DurableSettings, RunKeeping } from "./durable-settings.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { JournalError } from "../../../contracts/journal-errors.js";
import { JournalMismatchError } from "../../../contracts/state-errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { canonicalJson } from "../../../util/json/canonical.js";
import { EntryIndex } from "./entry-index.js";
import { isRedacted } from "./kept-values.js";
import { survivesJson } from "../../../util/json/json-fidelity.js";

/** Maximum time in milliseconds in which a failed write to a journal is repeated. */
const TRIES_MS = 30_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

/** The stored state of a run at the start of an execution. */
export interface KeptState {
  /** Absent for a run that has ended, because the journal then answers everything. */
  readonly claim: Claim | undefined;
  readonly entries: readonly KeptEntry[];
  /** The number of executions, including this one. */
  readonly execution: number;
}

/** With `keep: "tasks"`, the entries that are written only when their task needs them. */
type Buffered = Map<string, JournalEntry[]>;

/** The journal of one run, as used by its taps. */
export class RunJournal {
  readonly index: EntryIndex;
  /** Number of tasks that earlier executions finished. */
  readonly finishedTasks: number;
  /** Whether earlier executions left entries. */
  readonly hasEntries: boolean;
  readonly execution: number;
  readonly settings: DurableSettings;
  readonly #keeping: RunKeeping;
  readonly #claim: Claim | undefined;
  readonly #buffered: Buffered = new Map();
  #redacted: boolean;
  #warnedOfRedaction = false;
  #ended = false;

  constructor(
    readonly run: HookRun,
    keeping: RunKeeping,
    { claim, entries, execution }: KeptState,
  ) {
    this.#keeping = keeping;
    this.settings = keeping.settings;
    this.#claim = claim;
    this.finishedTasks = entries.filter(({ kind }) => kind === "task").length;
    this.hasEntries = entries.length > 0;
    this.execution = execution;
    this.index = new EntryIndex(entries);
    this.#redacted = entries.some(isRedacted);
  }

  /** Whether the journal is lost when the process ends. */
  get isVolatile(): boolean {
    return this.#keeping.journal.isVolatile === true;
  }

  /**
   * Whether secrets were removed from an entry of the run. Texts of this execution may then lack
   * them.
   */
  get hasRedacted(): boolean {
    return this.#redacted;
  }

  /** Stops writing and redacting. */
  end(): void {
    this.#ended = true;
  }

  /** Rejects new work of a run that has ended. @throws JournalMismatchError */
  requireOpen(what: string): void {
    if (this.#claim !== undefined) return;
    throw this.fail(
      new JournalMismatchError(
        `Run '${this.run.id}' is completed, and ${what} is not in its journal: the program does more than it did then`,
        { hint: "Run it under another id, or delete the run." },
      ),
    );
  }

  /**
   * Writes an entry. The entry is on disk when the promise resolves. If the write fails, the run
   * ends.
   * @throws JournalError, RunFencedError
   */
  async write(entry: JournalEntry): Promise<void> {
    if (this.#claim === undefined || this.#ended) return;
    const kept = this.#prepared(entry);
    try {
      await this.#append(this.#claim, kept);
    } catch (error) {
      throw this.fail(error);
    }
  }

  /** Returns whether the entry is within the size limit, as it would be written. */
  fits({ value }: JournalEntry): boolean {
    const shown = this.settings.sealed ? value : this.run.redactValue(value);
    const text = JSON.stringify({ ...(shown as object), redacted: true });
    return Buffer.byteLength(text) <= this.settings.maxEntryBytes;
  }

  /** Writes the entry if calls are stored. Otherwise the entry waits for `flush`. */
  async writeStep(entry: JournalEntry): Promise<void> {
    if (this.settings.keep === "calls") return this.write(entry);
    const waiting = this.#buffered.get(entry.task);
    if (waiting === undefined) this.#buffered.set(entry.task, [entry]);
    else waiting.push(entry);
  }

  /** Writes the steps of tasks that can't be restored from their output. `fits` selects them. */
  async flush(fits: (task: string) => boolean): Promise<void> {
    for (const [task, entries] of this.#buffered) {
      if (!fits(task)) continue;
      this.#buffered.delete(task);
      await Promise.all(entries.map((entry) => this.write(entry)));
    }
  }

  /** Drops the steps of a task, because its output replaces them. */
  drop(task: string): void {
    this.#buffered.delete(task);
  }

  /** Warns once that a text from the journal lacks a secret. */
  noteRestored(entry: KeptEntry): void {
    if (this.#warnedOfRedaction || !isRedacted(entry)) return;
    this.#warnedOfRedaction = true;
    this.run.warn(
      `Entry '${entry.key}' of the journal shows [redacted] where a secret was: texts that come from it differ from those of the first execution. With an encryptionKey entries are exact.`,
    );
  }

  /** Ends the run with this error, and returns it. */
  fail(error: unknown): Error {
    if (AgentEnsembleError.isInstance(error)) {
      this.run.cancel(error);
      return error;
    }
    const failure = new JournalError(`The journal failed: ${String(error)}`, { cause: error });
    this.run.cancel(failure);
    return failure;
  }

  /** Returns the entry in the form of the journal: redacted JSON data within the size limit. */
  #prepared(entry: JournalEntry): JournalEntry {
    const { settings, run } = this;
    let { value } = entry;
    if (!survivesJson(value))
      run.warn(
        `Entry '${entry.key}' of the journal has values that JSON changes: after a resume they are as JSON has them`,
      );
    let text = JSON.stringify(value) ?? "null";
    if (!settings.sealed) {
      const shown = run.redactValue(value);
      const redacted = JSON.stringify(shown) ?? "null";
      if (redacted !== text && canonicalJson(shown) !== canonicalJson(JSON.parse(text))) {
        this.#redacted = true;
        value = { ...(shown as object), redacted: true };
        text = redacted;
      }
    }
    const bytes = Buffer.byteLength(text);
    if (bytes <= settings.maxEntryBytes) return { ...entry, value };
    throw this.fail(
      new JournalError(
        `Entry '${entry.key}' of the journal has ${bytes} bytes, more than maxEntryBytes (${settings.maxEntryBytes})`,
        { hint: "Keep large values in a store, and return their key; or raise maxEntryBytes." },
      ),
    );
  }

  /** Entries are idempotent, so a failed write is repeated. */
  async #append(claim: Claim, entry: JournalEntry): Promise<void> {
    await retried(this.run, () => this.#keeping.journal.append(claim, entry));
  }
}

/**
 * Repeats a failed operation of a journal for half a minute. An error that is not a JournalError is
 * thrown at once.
 * @throws the last error
 */
export async function retried<T>(run: HookRun, work: () => Promise<T>): Promise<T> {
  const clock = run.get(Tokens.Clock);
  const startedMs = clock.monotonicMs();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      const isOver = clock.monotonicMs() - startedMs + pauseMs > TRIES_MS;
      if (!JournalError.isInstance(error) || isOver) throw error;
    }
    await new Promise<void>((resolve) => setTimeout(resolve, pauseMs));
  }
}
