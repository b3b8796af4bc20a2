import type { RunOptions, TaskContext } from "../contracts/run.js";
import type { NamedCase } from "./evaluation-case.js";
import type {
  AnyEvaluation,
  EvaluateFunctionOptions,
  EvaluateOptions,
} from "./evaluation-options.js";
import type { EvaluationResult, TrialResult } from "./evaluation-result.js";
import type { EvaluationTarget, TargetInput, TargetOutput } from "./target.js";
import type { DatasetScan } from "./datasets/dataset-scan.js";
import { Task } from "../contracts/task.js";
import { Ensemble } from "../ensemble/ensemble.js";
import { budget as budgetPlugin } from "../plugins/resilience/budget/index.js";
import { systemClock } from "../util/runtime.js";
import { Cancellation } from "../util/abort/cancellation.js";
import { baselineOf } from "./baseline.js";
import { checkEvaluateOptions } from "./checked-options.js";
import { datasetOf } from "./datasets/dataset.js";
import { scanDataset, selectedCases } from "./datasets/dataset-scan.js";
import { EvaluationKernel } from "./evaluation-kernel.js";
import { EvaluationRun } from "./evaluation-run.js";
import { EvaluationTally } from "./evaluation-tally.js";
import { compareWithBaseline } from "./statistics/comparison.js";
import { targetRunnerOf } from "./targets/target-runners.js";

const DEFAULT_SEED = 1;
const DEFAULT_CONFIDENCE = 0.95;
const DEFAULT_MIN_DIFFERENCE = 0.05;
const DEFAULT_CONCURRENCY = 4;
const DEFAULT_KEPT_CASES = 10_000;

/**
 * Evaluates a target: runs it `trials` times for each case of a dataset, and scores its outputs.
 * Each trial is a run. Its id depends on the dataset, the case and the trial. With `durable()`, an
 * interrupted evaluation therefore continues at the first unfinished trial. The promise also
 * resolves if trials or scores failed, the budget was exhausted or `signal` aborted: see `problems`
 * and `status`.
 *
 * @throws ValidationError for invalid options; DatasetError, FileFormatError and BaselineError
 * before the evaluation causes costs.
 * @example await evaluate({ name: "rivers", target: team, dataset: [{ input: { topic: "Rhine" },
 * expected: "1,230 km" }], scorers: [contains()] })
 */
export function evaluate<In, Out>(
  options: EvaluateFunctionOptions<In, Out>,
): Promise<EvaluationResult<In, Out>>;
export function evaluate<const T extends EvaluationTarget>(
  options: EvaluateOptions<T>,
): Promise<EvaluationResult<TargetInput<T>, TargetOutput<T>>>;
export async function evaluate(options: { readonly target: unknown }): Promise<EvaluationResult> {
  const o = options as AnyEvaluation; // its fields are checked next
  checkEvaluateOptions(o);
  const { seed = DEFAULT_SEED, trials = 1, signal, keepCases = DEFAULT_KEPT_CASES } = o;
  const dataset = datasetOf(o.dataset);
  const kernel = new EvaluationKernel(o);
  const end = new Cancellation<Error>();
  try {
    const runner = targetRunnerOf(o.target, kernel);
    const startedAt = systemClock.now().toISOString();
    const began = performance.now();
    const scan = await scanDataset(dataset, o.only, seed);
    const baseline = await baselineOf(o, { dataset, hash: scan.hash });
    const tally = new EvaluationTally(o.scorers, keepCases, scan.selected * trials);
    if (signal !== undefined) end.follow(signal);
    const pool = new TrialPool(o, tally, end.signal);
    await withBudget(o, end.signal, (parent) =>
      pool.work(
        new EvaluationRun({
          ...{ options: o, kernel, runner, tally, parent, signal: end.signal },
          scan,
          baseline: baseline && new Map(baseline.result.cases.map((one) => [one.id, one])),
        }),
        selectedCases(dataset, scan),
      ),
    );
    const settings = {
      ...{ seed, trials, confidence: o.confidence ?? DEFAULT_CONFIDENCE },
      minDifference: o.minDifference ?? DEFAULT_MIN_DIFFERENCE,
    };
    const { cases, spending, problems, problemCount } = tally;
    const names = o.scorers.map(({ name }) => name);
    return {
      format: "agentensemble-evaluation",
      version: 1,
      ...{ name: o.name, startedAt, durationMs: performance.now() - began, seed, trials },
      dataset: datasetSummary(dataset.name, scan),
      status: pool.status,
      scores: tally.summaries(settings),
      ...(baseline !== undefined && {
        comparison: {
          ...compareWithBaseline(cases, names, baseline.result, settings),
          ...(baseline.datasetChanges !== undefined && {
            datasetChanges: baseline.datasetChanges,
          }),
        },
      }),
      ...{ spending, problems, problemCount, cases },
    };
  } finally {
    end.dispose();
    await kernel.dispose();
  }
}

function datasetSummary(
  name: string | undefined,
  { hash, cases, selected }: DatasetScan,
): EvaluationResult["dataset"] {
  return { ...(name !== undefined && { name }), hash, cases, selected };
}

/** Executes the work within a run that has the budget. All runs of the evaluation join this run. */
async function withBudget(
  { budget, costConfiguration }: AnyEvaluation,
  signal: AbortSignal,
  work: (parent: RunOptions["parent"]) => Promise<void>,
): Promise<void> {
  if (budget === undefined) return work(undefined);
  let failure: { readonly error: unknown } | undefined;
  const handler = async (context: TaskContext): Promise<string> => {
    await work(context).catch((error: unknown) => (failure = { error }));
    return "done";
  };
  const all = new Ensemble({
    tasks: [new Task({ description: "All trials of the evaluation", template: false, handler })],
    plugins: [budgetPlugin(budget)],
    costConfiguration,
  });
  const graceMs = 2_147_483_647; // the budget stops this run; trials end separately
  try {
    await all.run({}, { throwOnError: false, signal, cancelGraceMs: graceMs });
  } finally {
    await all.dispose();
  }
  if (failure !== undefined) throw failure.error;
}

/** Executes trials concurrently, in the order of the dataset. */
class TrialPool {
  status: EvaluationResult["status"] = "complete";
  readonly #running = new Set<Promise<void>>();
  /** The cases with unfinished trials. */
  readonly #open = new Set<CaseTrials>();
  readonly #began = performance.now();
  #failure: { readonly error: unknown } | undefined;

  constructor(
    readonly options: AnyEvaluation,
    readonly tally: EvaluationTally,
    readonly signal: AbortSignal,
  ) {}

  /** @throws errors of the dataset, and errors that do not come from a target or a scorer. */
  async work(run: EvaluationRun, cases: AsyncIterable<NamedCase>): Promise<void> {
    const { trials = 1, concurrency = DEFAULT_CONCURRENCY } = this.options;
    for await (const one of cases) {
      const results = new CaseTrials(one, trials);
      this.#open.add(results);
      for (let trial = 1; trial <= trials; trial++) {
        while (this.#running.size >= concurrency) await Promise.race(this.#running);
        if (this.#isOver()) break;
        const working = this.#trial(run, results, trial).finally(() =>
          this.#running.delete(working),
        );
        this.#running.add(working);
      }
      if (this.#isOver()) break;
    }
    await Promise.all(this.#running);
    for (const results of this.#open) this.#count(results);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #trial(run: EvaluationRun, results: CaseTrials, trial: number): Promise<void> {
    try {
      const ended = await run.trial(results.one, trial);
      if ("ended" in ended) this.#stop(ended.ended);
      else if (results.add(ended.result)) this.#count(results);
    } catch (error) {
      this.#failure ??= { error };
    }
    this.tally.trialEnded();
    try {
      this.options.onProgress?.(this.tally.progress);
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #count(results: CaseTrials): void {
    this.#open.delete(results);
    this.tally.caseEnded(results.one, results.inOrder);
  }

  #isOver(): boolean {
    if (this.signal.aborted) this.#stop("cancelled");
    const { maxDurationMs = Number.POSITIVE_INFINITY } = this.options.budget ?? {};
    if (performance.now() - this.#began > maxDurationMs) this.#stop("budget");
    return this.status !== "complete" || this.#failure !== undefined;
  }

  #stop(why: "budget" | "cancelled"): void {
    if (this.status !== "complete") return;
    this.status = why === "budget" ? "incomplete" : "cancelled";
    this.tally.problem(
      why === "budget"
        ? {
            kind: "budget",
            code: "AE_BUDGET_EXCEEDED",
            message: "The budget of the evaluation is used up: the other trials were not made",
          }
        : {
            kind: "cancelled",
            code: "AE_RUN_CANCELLED",
            message: "The evaluation was cancelled: the other trials were not made",
          },
    );
  }
}

/** The results of the trials of a case. The trials may end in any order. */
class CaseTrials {
  readonly #results: TrialResult[] = [];

  constructor(
    readonly one: NamedCase,
    readonly trials: number,
  ) {}

  /** Adds a result. Returns whether it was the last one of the case. */
  add(result: TrialResult): boolean {
    return this.#results.push(result) === this.trials;
  }

  get inOrder(): readonly TrialResult[] {
    return this.#results.sort((a, b) => a.trial - b.trial);
  }
}
