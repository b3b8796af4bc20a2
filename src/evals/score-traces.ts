import type { TraceDatasetOptions, TraceSource } from "./datasets/stored-traces.js";
import type { AnyEvaluation, EvaluateOptions, EvaluationSettings } from "./evaluation-options.js";
import type { EvaluationResult } from "./evaluation-result.js";
import { datasetFromTraces, TraceTarget } from "./datasets/stored-traces.js";
import { evaluate } from "./evaluate.js";

/** Options of `scoreTraces`. */
export interface ScoreTracesOptions<In, Out>
  extends
    Omit<
      EvaluationSettings<In, Out>,
      "dataset" | "trials" | "version" | "captureMode" | "traces" | "onTargetError" | "timeoutMs"
    >,
    TraceDatasetOptions<In, Out> {
  /** The scored outputs: a folder with `*.trace.json` files, paths of files, or traces. */
  readonly traces: TraceSource;
}

/**
 * Scores outputs of earlier runs, for instance a sample of production: `only: { sample: 100 }`.
 * Runs only the scorers, not the target.
 *
 * @throws as `evaluate`.
 */
export function scoreTraces<In = Readonly<Record<string, unknown>>, Out = string>(
  options: ScoreTracesOptions<In, Out>,
): Promise<EvaluationResult<In, Out>> {
  const { traces, where, input, expected, tags, ...settings } = options;
  const dataset = datasetFromTraces<In, Out>(traces, { where, input, expected, tags });
  const all = { ...settings, dataset, target: new TraceTarget() } as unknown as AnyEvaluation;
  // The result has the types of these traces.
  return evaluate(all as unknown as EvaluateOptions) as Promise<EvaluationResult<In, Out>>;
}
