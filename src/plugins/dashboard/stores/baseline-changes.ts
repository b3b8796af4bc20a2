import type { RunComparison } from "../protocol/compare.js";
import type { ReadableRun } from "./board-runs.js";
import type { WholeRun } from "./whole-run.js";
import { compareRuns } from "../protocol/compare.js";
import { readWhole } from "./whole-run.js";

type ChangeCounts = RunComparison["counts"];

/** Maximum number of cached comparisons. */
const MAX_KEPT = 1_000;

/** The changes of runs since the baselines of their ensembles. Each comparison is made once. */
export class BaselineChanges {
  readonly #find: (runId: string) => Promise<ReadableRun | undefined>;
  readonly #known = new Map<string, ChangeCounts>();
  /** The last baseline. Lists often request runs of one ensemble. */
  #read: { readonly key: string; readonly run: Promise<WholeRun> } | undefined;

  constructor(find: (runId: string) => Promise<ReadableRun | undefined>) {
    this.#find = find;
  }

  /**
   * Returns the changes of a run. Returns `undefined` if the baseline does not exist any more.
   * @throws RunStoreError
   */
  async countsOf(baselineId: string, run: ReadableRun): Promise<ChangeCounts | undefined> {
    const baseline = await this.#find(baselineId);
    if (baseline === undefined) return undefined;
    const key = JSON.stringify([baselineId, baseline.n, run.summary.runId, run.n]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const { counts } = compareRuns(await this.#whole(baseline), await readWhole(run));
    this.#known.set(key, counts);
    for (const oldest of this.#known.keys())
      if (this.#known.size > MAX_KEPT) this.#known.delete(oldest);
    return counts;
  }

  #whole(baseline: ReadableRun): Promise<WholeRun> {
    const key = JSON.stringify([baseline.summary.runId, baseline.n]);
    if (this.#read?.key !== key) this.#read = { key, run: readWhole(baseline) };
    return this.#read.run;
  }
}
