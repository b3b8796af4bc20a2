import type { EnsembleAccess } from "../../../contracts/ensemble-access.js";
import type { Journal, KeptRun, KeptRuns } from "../../../contracts/journal.js";
import type { EnsembleOutput } from "../../../contracts/output.js";
import type { ResumeOptions } from "../shared/resume-run.js";
import { ValidationError } from "../../../contracts/errors.js";
import { RunPoisonedError } from "../../../contracts/journal-errors.js";
import { checkOptions, knownNames, requireBoolean } from "../../../contracts/validation.js";
import { toError } from "../../../util/errors.js";
import { JournalRuns } from "../shared/kept-runs.js";
import { poisonOf } from "../shared/poisoned-runs.js";
import { resumeKept } from "../shared/resume-run.js";
import { decidedOf, type Resumable, type ResumedRun } from "./decided-runs.js";

/** The maximum number of runs that are resumed concurrently. */
const AT_ONCE = 4;
const PAGE = 500;

/** Options of `resumeAll`. */
export interface ResumeAllOptions {
  /**
   * Whether to continue also the runs that ended their process five times in a row without a new
   * entry. Default false.
   */
  readonly poisoned?: boolean | undefined;
}

/** The runs of a `durable()` plugin. */
export interface Runs extends KeptRuns {
  /**
   * Continues a run with its inputs and tags, with the ensemble of its name. If several ensembles
   * have this name, uses the newest.
   * @throws ValidationError for an unknown run or ensemble, and for inputs that JSON can't
   * represent; the error of the run.
   */
  resume(runId: string, options?: ResumeOptions): Promise<EnsembleOutput>;
  /**
   * Continues all runs of the attached ensembles that no process executes and that do not wait for
   * a review. These are runs whose process has died or has disposed of its kernel, and runs whose
   * reviews are decided. Never rejects for a single run. The result contains the error of the run.
   * Skips runs whose reviews can't be read. Skips runs that crashed their process five times in a
   * row, unless `poisoned` is set.
   */
  resumeAll(options?: ResumeAllOptions): Promise<readonly ResumedRun[]>;
}

/** The journal and the ensembles of a plugin. */
export interface RunsSource {
  readonly journal: Journal;
  /** The ensembles of the plugin's kernel, by the name under which their runs are kept. */
  readonly ensembles: ReadonlyMap<string, EnsembleAccess>;
}

/** The runs of a journal, with the ensembles that can continue them. */
export class DurableRuns extends JournalRuns implements Runs {
  readonly #source: RunsSource;

  constructor(source: RunsSource) {
    super(() => source.journal);
    this.#source = source;
  }

  async resume(runId: string, options?: ResumeOptions): Promise<EnsembleOutput> {
    const known = await this.get(runId);
    if (known === undefined) throw new ValidationError(`There is no run '${runId}' to resume`);
    const ensemble = this.#ensembleOf(known.ensemble);
    await ensemble.ready();
    return resumeKept(this.#source.journal, ensemble, runId, options);
  }

  async resumeAll(options: ResumeAllOptions = {}): Promise<readonly ResumedRun[]> {
    checkOptions("resumeAll()", options, ["poisoned"]);
    requireBoolean("resumeAll() poisoned", options.poisoned);
    return this.resumeAllOf([...this.#source.ensembles.keys()], options);
  }

  /** Like `resumeAll`, for the runs of these ensembles. */
  async resumeAllOf(
    names: readonly string[],
    { poisoned = false }: ResumeAllOptions = {},
  ): Promise<readonly ResumedRun[]> {
    const found: KeptRun[] = [];
    const results: ResumedRun[] = [];
    for (const ensemble of names) {
      const { runs, unreadable } = await this.#resumable(ensemble);
      found.push(...runs);
      results.push(...unreadable);
    }
    const next = async (): Promise<void> => {
      for (let run = found.shift(); run !== undefined; run = found.shift())
        results.push(await this.#resumed(run, poisoned));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    return results;
  }

  /**
   * Returns the runs that can be continued and that no process executes, the oldest first. Returns
   * also the runs whose reviews can't be read.
   */
  async #resumable(ensemble: string): Promise<Resumable> {
    const died = (await this.#all({ ensemble, status: "running" })).filter(
      ({ owner }) => owner === undefined,
    );
    const left = [...died, ...(await this.#all({ ensemble, status: "interrupted" }))];
    const waiting = (await this.#all({ ensemble, status: "waiting" })).filter(
      ({ executions }) => executions > 0,
    );
    const { runs, unreadable } = await decidedOf(waiting, this.#source.journal.reviews);
    return { runs: oldestFirst([...runs, ...left]), unreadable };
  }

  async #all(filter: {
    readonly ensemble: string;
    readonly status: KeptRun["status"];
  }): Promise<KeptRun[]> {
    const all: KeptRun[] = [];
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined;) {
      const page = await this.list({
        ...filter,
        limit: PAGE,
        ...(after !== undefined && { after }),
      });
      all.push(...page.runs);
      after = page.next;
      isFirst = false;
    }
    return all;
  }

  async #resumed(run: KeptRun, retriesPoisoned: boolean): Promise<ResumedRun> {
    const { runId } = run;
    try {
      const deaths = retriesPoisoned ? undefined : await poisonOf(run, this.#source.journal);
      if (deaths !== undefined) throw new RunPoisonedError(runId, deaths);
      return { runId, output: await this.resume(runId) };
    } catch (error) {
      return { runId, error: toError(error) };
    }
  }

  /** @throws ValidationError if no ensemble has this name. */
  #ensembleOf(name: string): EnsembleAccess {
    const { ensembles } = this.#source;
    const named = ensembles.get(name);
    if (named !== undefined) return named;
    const [only] = ensembles.values();
    if (only !== undefined && ensembles.size === 1 && only.name === undefined) return only;
    throw new ValidationError(
      `No ensemble of this program has the name '${name}'. ${knownNames(name, [...ensembles.keys()])}`,
    );
  }
}

function oldestFirst(runs: readonly KeptRun[]): KeptRun[] {
  return [...runs].sort((a, b) => a.startedAt.localeCompare(b.startedAt));
}
