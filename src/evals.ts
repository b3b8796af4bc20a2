/** Evaluations: measure the quality of a team's answers, the effect of a change, and the cost. */
export { BaselineError, DatasetError, ScoreError } from "./contracts/evaluation-errors.js";
export { readEvaluation } from "./evals/baseline.js";
export type {
  ConversationInput,
  ConversationTarget,
  ConversationTargetThread,
  SimulatedUser,
} from "./evals/conversation-target.js";
export { Dataset } from "./evals/datasets/dataset.js";
export type { DatasetFileOptions } from "./evals/datasets/file-datasets.js";
export { evaluate } from "./evals/evaluate.js";
export type { EvaluationCase, NamedCase } from "./evals/evaluation-case.js";
export type {
  CaseSelection,
  EvaluateFunctionOptions,
  EvaluateOptions,
  EvaluationBudget,
  EvaluationProgress,
  EvaluationSettings,
} from "./evals/evaluation-options.js";
export type {
  BaselineComparison,
  CaseResult,
  DatasetChanges,
  EvaluationProblem,
  EvaluationResult,
  EvaluationVerdict,
  Interval,
  ScoreComparison,
  ScoreSummary,
  TrialResult,
  TrialScore,
} from "./evals/evaluation-result.js";
export type {
  Sample,
  Score,
  Scorer,
  ScorerContext,
  ScorerOptions,
  ScoreValue,
} from "./evals/scorer.js";
export {
  contains,
  exact,
  jsonDifference,
  matchesSchema,
  numericTolerance,
  pattern,
  semanticSimilarity,
} from "./evals/scorers/comparing-scorers.js";
export type {
  NumericToleranceOptions,
  SampleTexts,
  TextScorerOptions,
} from "./evals/scorers/comparing-scorers.js";
export { scorer } from "./evals/scorers/named-scorer.js";
export {
  constraintsMet,
  costAtMost,
  delegatesTo,
  forbidsTools,
  latencyAtMost,
  tokensAtMost,
  toolCalledWith,
  toolCallsAtMost,
  toolsInOrder,
} from "./evals/scorers/way-scorers.js";
export type {
  EnsembleTarget,
  EvaluationTarget,
  FunctionTarget,
  TargetContext,
  TargetInput,
  TargetOutput,
  TaskOfEnsembleTarget,
} from "./evals/target.js";
export type {
  EvaluationSpending,
  TrialWay,
  WayDelegation,
  WayMessage,
  WayToolCall,
} from "./evals/trial-way.js";
export { datasetFromTraces } from "./evals/datasets/stored-traces.js";
export type {
  StoredTrace,
  TraceDatasetOptions,
  TraceSource,
} from "./evals/datasets/stored-traces.js";
export { defineEvaluation } from "./evals/define-evaluation.js";
export type { Evaluation, EvaluationChanges } from "./evals/define-evaluation.js";
export { evaluationPanel } from "./evals/evaluation-panel.js";
export { expectScore } from "./evals/expect-score.js";
export type { ScoreExpectation } from "./evals/expect-score.js";
export { calibrate } from "./evals/judges/calibrate.js";
export type { CalibrateOptions, Calibration, LabelledSample } from "./evals/judges/calibrate.js";
export { grounded } from "./evals/judges/grounded.js";
export type { GroundedOptions } from "./evals/judges/grounded.js";
export { judge } from "./evals/judges/judge.js";
export type { JudgeOptions, RubricJudgeOptions } from "./evals/judges/judge.js";
export { pairwise } from "./evals/judges/pairwise.js";
export type { PairwiseOptions } from "./evals/judges/pairwise.js";
export { recordings } from "./evals/recordings/recordings.js";
export type { RecordingsOptions } from "./evals/recordings/recordings.js";
export { evaluationJson } from "./evals/reports/evaluation-json.js";
export { htmlReport } from "./evals/reports/html-report.js";
export type { HtmlReportOptions } from "./evals/reports/html-report.js";
export { junitReport } from "./evals/reports/junit-report.js";
export { markdownReport } from "./evals/reports/markdown-report.js";
export { textReport } from "./evals/reports/text-report.js";
export { scoreTraces } from "./evals/score-traces.js";
export type { ScoreTracesOptions } from "./evals/score-traces.js";
export { fromAutoevals } from "./evals/scorers/from-autoevals.js";
export type { AutoevalsScorer } from "./evals/scorers/from-autoevals.js";
