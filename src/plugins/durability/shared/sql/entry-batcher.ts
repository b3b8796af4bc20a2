import type { Claim, JournalEntry } from "../../../../contracts/journal.js";
import type { JournalStatements } from "./journal-statements.js";
import type { SqlSession } from "../../../shared/sql/sql-session.js";
import { RunFencedError } from "../../../../contracts/journal-errors.js";
import { entryColumns, type EntryColumns } from "./rows.js";
import { toColumn } from "../../../shared/sql/sql-text.js";

/** Limits of one statement. */
const MOST_ENTRIES = 500;
const MOST_CHARACTERS = 8_388_608;

interface WaitingEntry {
  readonly runId: string;
  readonly epoch: number;
  readonly execution: number;
  readonly entry: EntryColumns;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes the entries of all runs of this process. Entries that wait during a statement are written
 * by the next one.
 */
export class EntryBatcher {
  readonly #session: SqlSession;
  readonly #statements: JournalStatements;
  #waiting: WaitingEntry[] = [];
  /**
   * Entries that have been neither written nor refused, by the run and the epoch of their claim.
   */
  readonly #open = new Map<string, Set<Promise<void>>>();
  #writing: Promise<void> | undefined;

  constructor(session: SqlSession, statements: JournalStatements) {
    this.#session = session;
    this.#statements = statements;
  }

  /**
   * @throws RunFencedError if the claim was lost; JournalError; an error for a value without a JSON
   * form.
   */
  append(claim: Claim, entry: JournalEntry): Promise<void> {
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({
        runId: claim.runId,
        epoch: claim.epoch,
        execution: claim.record.executions,
        entry: entryColumns(entry),
        resolve,
        reject,
      });
    });
    this.#writing ??= this.#writeAll();
    this.#keepOpen(claim, written);
    return written;
  }

  /**
   * Resolves when the entries that were appended under a claim are written or refused, independent
   * of entries of other runs.
   */
  async settled(claim: Pick<Claim, "runId" | "epoch">): Promise<void> {
    await Promise.allSettled([...(this.#open.get(claimName(claim)) ?? [])]);
  }

  /** Resolves when no entry waits. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  #keepOpen(claim: Claim, written: Promise<void>): void {
    const name = claimName(claim);
    const open = this.#open.get(name) ?? new Set();
    this.#open.set(name, open.add(written));
    const close = (): void => {
      open.delete(written);
      if (open.size === 0) this.#open.delete(name);
    };
    written.then(close, close);
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // entries appended in the same step are in the first statement
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      await this.#write(batch).catch((error: unknown) => this.#writeEach(batch, error));
    }
    this.#writing = undefined;
  }

  /**
   * Returns the first waiting entries. One statement can't write a key twice. Entries after a
   * removal wait for the removal.
   */
  #nextBatch(): readonly WaitingEntry[] {
    const keys = new Set<string>();
    let characters = 0;
    let count = 0;
    for (const { runId, entry } of this.#waiting) {
      const key = JSON.stringify([runId, entry.key]);
      characters += entry.value.length;
      const isFull = count === MOST_ENTRIES || characters > MOST_CHARACTERS;
      if (count > 0 && (isFull || keys.has(key) || entry.kind === "redo")) break;
      keys.add(key);
      count++;
      if (entry.kind === "redo") break;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(batch: readonly WaitingEntry[]): Promise<void> {
    const { append, appendOne, redo } = this.#statements;
    const isRedo = batch[0]?.entry.kind === "redo";
    const columns = batchColumns(batch);
    const rows =
      batch.length === 1 && !isRedo
        ? await this.#session.query(appendOne, columns.flat())
        : await this.#session.query(isRedo ? redo : append, columns);
    const held = new Set(rows.map((row) => `${row["epoch"]} ${row["run_id"]}`));
    for (const { runId, epoch, resolve, reject } of batch)
      if (held.has(`${epoch} ${toColumn(runId)}`)) resolve();
      else reject(new RunFencedError(runId));
  }

  /**
   * Writes the entries one by one. An entry that the database refuses must not affect entries of
   * other runs.
   */
  async #writeEach(batch: readonly WaitingEntry[], error: unknown): Promise<void> {
    if (batch.length === 1) return batch[0]?.reject(error);
    for (const one of batch) await this.#write([one]).catch(one.reject);
  }
}

function claimName({ runId, epoch }: Pick<Claim, "runId" | "epoch">): string {
  return `${epoch} ${runId}`;
}

/** Returns a list of values for each column. */
function batchColumns(batch: readonly WaitingEntry[]): readonly (readonly string[])[] {
  return [
    batch.map(({ runId }) => toColumn(runId)),
    batch.map(({ epoch }) => String(epoch)),
    ...entryLists(batch.map(({ entry }) => entry)),
    batch.map(({ execution }) => String(execution)),
  ];
}

/** Returns a list of values for each column of entries, without the columns of the run. */
export function entryLists(entries: readonly EntryColumns[]): readonly (readonly string[])[] {
  return [
    entries.map(({ key }) => key),
    entries.map(({ fullKey }) => fullKey),
    entries.map(({ kind }) => kind),
    entries.map(({ task }) => task),
    entries.map(({ hash }) => hash),
    entries.map(({ covers }) => covers),
    entries.map(({ value }) => value),
  ];
}
