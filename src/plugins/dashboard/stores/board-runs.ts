import type { LogEntry, RunQuery, RunStore, RunSummary } from "../../../contracts/run-store.js";
import type { RunFeed } from "../feed/run-feed.js";
import type { RunLog } from "../feed/run-log.js";
import type { StoreWriter } from "../feed/store-writer.js";
import type { NumberedReducer } from "../protocol/run-state.js";
import { RunStoreError } from "../../../contracts/state-errors.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { emitProcessWarning } from "../../../util/process-warning.js";
import { createRunState } from "../protocol/run-state.js";
import { CUT, slimEntry } from "../protocol/slim.js";
import type { ShownTexts } from "../protocol/snapshot.js";
import { askedStore } from "./asked-store.js";
import { feedRuns } from "./feed-runs.js";

/** A run in memory or in a store. */
export type ReadableRun = Pick<
  RunLog,
  "n" | "ended" | "summary" | "snapshotText" | "text" | "entry" | "numbersOf" | "bars"
>;

const PAGE = 1_000;
/** Number of runs in the first frame to a page. */
const LATEST = 100;

/** Number of stored runs that stay in memory after a read, to speed up their pages. */
const KEPT_STORED = 2;

/** Converts the texts of a store if contents do not leave the process. */
const WITHOUT_CONTENTS: ShownTexts = Object.freeze({
  name: (name: string) => name,
  text: () => "",
  value: () => ({}),
});

interface BoardRunsOptions {
  readonly store: RunStore | undefined;
  readonly contents: boolean;
  /** Writes unsaved entries to the store. Absent without a store. */
  readonly writer: () => Pick<StoreWriter, "flush" | "forget"> | undefined;
  /** Maximum wait of `latest` for the store, in milliseconds. */
  readonly storeMs: number;
}

/**
 * The runs in memory, and those of the store if there is one. Memory takes precedence, because it
 * is newer.
 */
export class BoardRuns {
  readonly #feed: RunFeed;
  readonly #store: RunStore | undefined;
  /** The store, with its failures as RunStoreError. */
  readonly #asked: RunStore | undefined;
  readonly #contents: boolean;
  readonly #writer: BoardRunsOptions["writer"];
  readonly #storeMs: number;
  readonly #read = new Map<string, StoredRun>();

  constructor(feed: RunFeed, { store, contents, writer, storeMs }: BoardRunsOptions) {
    this.#writer = writer;
    this.#feed = feed;
    this.#store = store;
    this.#asked = store && askedStore(store);
    this.#contents = contents;
    this.#storeMs = storeMs;
  }

  /** @throws ValidationError for an invalid query; RunStoreError if the store fails */
  async list(query: RunQuery): Promise<Awaited<ReturnType<RunStore["list"]>>> {
    if (this.#asked === undefined) return feedRuns(this.#feed).list(query);
    await this.#writer()?.flush(); // filters, totals and sums are computed by the store
    const page = await this.#asked.list(query);
    return {
      ...page,
      runs: page.runs.map((run) => this.#feed.get(run.runId)?.summary ?? this.#shown(run)),
    };
  }

  /**
   * Returns the last 100 runs, newest first. Returns only the runs in memory if the store fails or
   * does not respond in time.
   */
  async latest(): Promise<readonly RunSummary[]> {
    const stored = await this.#latestStored();
    const runs = new Map(this.#feed.logs.map(({ runId, summary }) => [runId, summary]));
    for (const run of stored) if (!runs.has(run.runId)) runs.set(run.runId, this.#shown(run));
    return [...runs.values()]
      .sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt))
      .slice(0, LATEST);
  }

  /** Returns the number of the last entry of a run. Returns -1 for an unknown run. */
  async lastOf(runId: string): Promise<number> {
    const run = this.#feed.get(runId) ?? (await this.#asked?.get(runId));
    return run?.n ?? -1;
  }

  /**
   * Returns a run. Returns `undefined` for an unknown run.
   * @throws RunStoreError if the store fails
   */
  async find(runId: string): Promise<ReadableRun | undefined> {
    const log = this.#feed.get(runId);
    if (log !== undefined || this.#asked === undefined) return log;
    const summary = await this.#asked.get(runId);
    if (summary === undefined) return undefined;
    const known = this.#read.get(runId);
    if (known?.n === summary.n && known.summary.baseline === summary.baseline) return known;
    const run = new StoredRun(
      this.#shown(summary),
      await entriesIn(this.#asked, runId),
      this.#contents ? CUT : WITHOUT_CONTENTS,
    );
    this.#read.set(runId, run);
    for (const oldest of this.#read.keys())
      if (this.#read.size > KEPT_STORED) this.#read.delete(oldest);
    return run;
  }

  /** Removes a run that has ended. @throws RunStoreError */
  async remove(runId: string): Promise<void> {
    const log = this.#feed.get(runId);
    if (log !== undefined && (await this.#writer()?.forget(log)) === false)
      throw new RunStoreError("The store of runs is busy");
    await this.#asked?.remove(runId);
    this.#read.delete(runId);
    this.#feed.delete(runId);
  }

  /** Returns the baseline of an ensemble. @throws RunStoreError if the store fails */
  async baselineOf(ensemble: string): Promise<RunSummary | undefined> {
    const inMemory = this.#feed.logs.find(
      ({ isBaseline, summary }) => isBaseline && summary.ensemble === ensemble,
    );
    if (inMemory !== undefined || this.#asked === undefined) return inMemory?.summary;
    const { runs } = await this.#asked.list({ ensemble, baseline: true, limit: 1 });
    const run = runs.find(({ baseline }) => baseline === true);
    return run && this.#shown(run);
  }

  /**
   * Makes a run the baseline of its ensemble instead of the previous one, or removes the mark.
   * @throws RunStoreError
   */
  async markBaseline({ runId, ensemble }: RunSummary, isBaseline: boolean): Promise<void> {
    const before = await this.baselineOf(ensemble);
    if (before !== undefined && before.runId !== runId) await this.#mark(before.runId, false);
    await this.#mark(runId, isBaseline);
  }

  async #mark(runId: string, isBaseline: boolean): Promise<void> {
    await this.#writer()?.flush();
    const { baseline: _, ...summary } = (await this.#asked?.get(runId)) ?? {};
    if ("runId" in summary)
      await this.#asked?.put({
        ...(summary as RunSummary), // a summary with an id has all fields
        ...(isBaseline && { baseline: true }),
      });
    this.#feed.markBaseline(runId, isBaseline);
  }

  /**
   * Returns the last runs of the store. Runs in progress are shown even without the store, so its
   * failure is only a process warning.
   */
  async #latestStored(): Promise<readonly RunSummary[]> {
    const [store, ms] = [this.#store, this.#storeMs];
    if (store === undefined) return [];
    try {
      const late = (): never => {
        throw new Error(`no answer within ${ms} ms`);
      };
      const { runs } = await withTimeout(() => store.list({ limit: LATEST }), { ms, late });
      return runs;
    } catch (error) {
      emitProcessWarning(`dashboard: the runs of the store can't be shown: ${messageOf(error)}`);
      return [];
    }
  }

  #shown(run: RunSummary): RunSummary {
    if (this.#contents) return run;
    const { error } = run;
    return { ...run, inputs: {}, ...(error && { error: { ...error, message: "" } }) };
  }
}

async function entriesIn(store: RunStore, runId: string): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let after = -1; ; after = entries.at(-1)?.n ?? after) {
    const page = await store.read(runId, after, PAGE);
    entries.push(...page);
    if (page.length < PAGE) return entries;
  }
}

/** A run of a store. Its texts are already redacted. */
class StoredRun implements ReadableRun {
  readonly ended = true;
  readonly summary: RunSummary;
  readonly #entries: readonly LogEntry[];
  readonly #shown: ShownTexts;
  readonly #state: NumberedReducer;

  constructor(summary: RunSummary, entries: readonly LogEntry[], shown: ShownTexts) {
    this.summary = summary;
    this.#entries = entries;
    this.#shown = shown;
    this.#state = createRunState({
      maxBarTasks: Number.POSITIVE_INFINITY,
      ...(shown !== CUT && { shown }),
    });
    for (const entry of entries) this.#state.apply(entry);
  }

  get n(): number {
    return this.#entries.length - 1;
  }

  snapshotText(): string {
    return JSON.stringify(this.#state.snapshot());
  }

  text(n: number, form: "slim" | "full"): string {
    return JSON.stringify(this.entry(n, form));
  }

  entry(n: number, form: "slim" | "full"): LogEntry {
    const entry = this.#entries[n];
    if (entry === undefined) throw new RangeError(`The run has no entry ${n}`);
    const isWhole = form === "full" && this.#shown === CUT;
    return isWhole ? entry : slimEntry(entry, this.#shown);
  }

  numbersOf(taskId: string): readonly number[] {
    return this.#entries.flatMap((entry, n) => (entry.taskId === taskId ? [n] : []));
  }

  bars(from: number, to: number): ReturnType<RunLog["bars"]> {
    const tasks = [...this.#state.view.tasks.values()];
    return tasks.slice(from, to).map(({ id, bars }) => ({ taskId: id, bars }));
  }
}
