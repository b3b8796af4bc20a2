import type { UsageRecord } from "../contracts/usage.js";
import type { NamedCase } from "./evaluation-case.js";
import type { EvaluationProgress } from "./evaluation-options.js";
import type {
  CaseResult,
  EvaluationProblem,
  ScoreSummary,
  TrialResult,
} from "./evaluation-result.js";
import type { Scorer } from "./scorer.js";
import type { SummarySettings } from "./statistics/score-column.js";
import type { EvaluationSpending } from "./trial-way.js";
import { ScoreColumn } from "./statistics/score-column.js";
import { passValueOf } from "./scored-sample.js";
import { UnreadWays } from "./unread-ways.js";
import { addSpending, NO_SPENDING, spendingOf } from "./way-of-runs.js";

/** Maximum number of problems in a result. Further problems are only counted. */
const MOST_PROBLEMS = 1_000;

/** The origin of a model call. */
export type Spender = "target" | "judges";

/** Collects the results of an evaluation. Uses a few bytes per case, besides the stored cases. */
export class EvaluationTally {
  readonly spending: Record<Spender, EvaluationSpending> = {
    target: NO_SPENDING,
    judges: NO_SPENDING,
  };
  readonly problems: EvaluationProblem[] = [];
  problemCount = 0;
  readonly #columns: readonly ScoreColumn[];
  readonly #kept: { readonly position: number; readonly result: CaseResult }[] = [];
  readonly #unread = new UnreadWays();
  readonly #began = performance.now();
  #done = 0;

  constructor(
    readonly scorers: readonly Scorer[],
    readonly keepCases: number,
    /** Number of trials of all cases. */
    readonly total: number,
  ) {
    this.#columns = scorers.map((scorer) => new ScoreColumn(scorer.name, passValueOf(scorer)));
  }

  spent(by: Spender, spending: EvaluationSpending): void {
    this.spending[by] = addSpending(this.spending[by], spending);
  }

  spentBy(by: Spender, ledger: readonly UsageRecord[]): void {
    this.spent(by, spendingOf(ledger));
  }

  problem(problem: EvaluationProblem): void {
    this.problemCount++;
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(problem);
  }

  trialEnded(): void {
    this.#done++;
  }

  get progress(): EvaluationProgress {
    const elapsedMs = performance.now() - this.#began;
    const { target, judges } = this.spending;
    const { cost } = addSpending(target, judges);
    return {
      done: this.#done,
      total: this.total,
      errors: this.problemCount,
      elapsedMs,
      ...(this.#done > 0 && { remainingMs: (elapsedMs / this.#done) * (this.total - this.#done) }),
      ...(cost !== undefined && { cost }),
    };
  }

  /** Adds a case with finished trials, in their order. */
  caseEnded(one: NamedCase, trials: readonly TrialResult[]): void {
    for (const column of this.#columns) {
      const scores = trials.flatMap((trial) => trial.scores[column.scorer] ?? []);
      column.add(one.position, {
        values: scores.flatMap(({ value }) => value ?? []),
        errors: scores.filter(({ error }) => error !== undefined).length,
        skipped: scores.filter(({ value, error }) => value === undefined && error === undefined)
          .length,
      });
    }
    if (trials.length === 0 || this.#kept.length >= this.keepCases) return;
    const { id, input, expected, tags = [], position } = one;
    const result = { id, input, ...(expected !== undefined && { expected }), tags, trials };
    this.#kept.push({ position, result });
    for (const { way } of trials) this.#unread.add(way);
  }

  summaries(settings: SummarySettings): readonly ScoreSummary[] {
    return this.#columns.map((column) => column.summary(settings));
  }

  get cases(): readonly CaseResult[] {
    return this.#kept.sort((a, b) => a.position - b.position).map(({ result }) => result);
  }
}
