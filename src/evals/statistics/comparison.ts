import type {
  BaselineComparison,
  CaseResult,
  EvaluationResult,
  EvaluationVerdict,
  ScoreComparison,
} from "../evaluation-result.js";
import { detectableDifference, FEWEST_PAIRS } from "./detectable.js";
import { meanInterval, meanOf } from "./intervals.js";
import { signTest } from "./sign-test.js";

/** Settings of a comparison. */
export interface ComparisonSettings {
  readonly confidence: number;
  readonly seed: number;
  /** The minimum difference that matters. */
  readonly minDifference: number;
}

/** Compares two evaluations of the same cases, scorer by scorer, case by case. */
export function compareWithBaseline(
  cases: readonly CaseResult[],
  scorers: readonly string[],
  baseline: EvaluationResult,
  settings: ComparisonSettings,
): BaselineComparison {
  const earlier = new Map(baseline.cases.map((one) => [one.id, one]));
  const known = new Set(baseline.scores.map(({ scorer }) => scorer));
  const compared = scorers
    .filter((scorer) => known.has(scorer))
    .map((scorer) => compareScores(scorer, cases, earlier, settings));
  return {
    baseline: { name: baseline.name, startedAt: baseline.startedAt },
    scorers: compared,
    verdict: overall(compared.map(({ verdict }) => verdict)),
  };
}

function overall(verdicts: readonly EvaluationVerdict[]): EvaluationVerdict {
  if (verdicts.includes("worse")) return "worse";
  if (verdicts.includes("better")) return "better";
  const none = verdicts.length === 0 || verdicts.includes("not enough data");
  return none ? "not enough data" : "no difference";
}

/** Returns the mean of the scores of a case. Returns `undefined` if there are none. */
function caseMean(result: CaseResult | undefined, scorer: string): number | undefined {
  const values = (result?.trials ?? []).flatMap(({ scores }) => scores[scorer]?.value ?? []);
  return values.length === 0
    ? undefined
    : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Rounding errors of means do not count as a difference. */
const SMALLEST = 1e-12;

function compareScores(
  scorer: string,
  cases: readonly CaseResult[],
  earlier: ReadonlyMap<string, CaseResult>,
  { confidence, seed, minDifference }: ComparisonSettings,
): ScoreComparison {
  const pairs = cases.flatMap((result) => {
    const before = caseMean(earlier.get(result.id), scorer);
    const after = caseMean(result, scorer);
    if (before === undefined || after === undefined) return [];
    const change = after - before;
    return [{ id: result.id, before, change: Math.abs(change) < SMALLEST ? 0 : change }];
  });
  const changes = Float64Array.from(pairs, ({ change }) => change);
  const better = pairs.filter(({ change }) => change > 0).map(({ id }) => id);
  const worse = pairs.filter(({ change }) => change < 0).map(({ id }) => id);
  const interval = meanInterval(changes, { confidence, seed, range: [-1, 1] });
  const p = signTest(better.length, worse.length);
  return {
    scorer,
    pairs: pairs.length,
    baselineMean: meanOf(Float64Array.from(pairs, ({ before }) => before)),
    difference: meanOf(changes),
    interval,
    better,
    worse,
    signTest: p,
    detectableDifference: detectableDifference(changes, confidence),
    verdict: comparisonVerdict(pairs.length, interval, p <= 1 - confidence, minDifference),
  };
}

/**
 * A difference requires both tests: an interval without 0 and a significant sign test. The verdict
 * "no difference" requires an interval between `-minDifference` and `minDifference`.
 */
function comparisonVerdict(
  pairs: number,
  { low, high }: { readonly low: number; readonly high: number },
  isSignificant: boolean,
  minDifference: number,
): EvaluationVerdict {
  if (pairs < FEWEST_PAIRS) return "not enough data";
  if (isSignificant && high < 0) return "worse";
  if (isSignificant && low > 0) return "better";
  return low > -minDifference && high < minDifference ? "no difference" : "not enough data";
}
