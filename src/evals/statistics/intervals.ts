import type { Interval } from "../evaluation-result.js";
import { RandomSource } from "./random-source.js";

/** Resamples of a bootstrap. */
const RESAMPLES = 10_000;
/**
 * Above this number, the bootstrap and the normal distribution agree, but the bootstrap takes much
 * longer.
 */
const MOST_BOOTSTRAPPED = 10_000;

/** Settings of an interval. */
export interface IntervalSettings {
  readonly confidence: number;
  readonly seed: number;
  /** The range of the mean. */
  readonly range: readonly [low: number, high: number];
}

/** Returns the mean. Returns 0 for no values. */
export function meanOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return values.length === 0 ? 0 : sum / values.length;
}

/**
 * Returns the standard deviation of a sample (divisor n - 1). Returns 0 for fewer than two values.
 */
export function deviationOf(values: Float64Array): number {
  if (values.length < 2) return 0;
  const mean = meanOf(values);
  let sum = 0;
  for (const value of values) sum += (value - mean) ** 2;
  return Math.sqrt(sum / (values.length - 1));
}

/**
 * Returns the interval of the mean of independent cases by a percentile bootstrap. If all values
 * are equal, a bootstrap has no variation. The interval is then the exact bound of Clopper and
 * Pearson. It is the bound for the fraction of other values that the sample may lack: `1 - (alpha /
 * 2)^(1 / n)`.
 */
export function meanInterval(values: Float64Array, settings: IntervalSettings): Interval {
  const { confidence, range } = settings;
  const [min, max] = range;
  const bounded = (low: number, high: number, method: Interval["method"]): Interval => ({
    low: Math.max(min, low),
    high: Math.min(max, high),
    confidence,
    method,
  });
  const [first = 0] = values;
  const tail = (1 - confidence) / 2;
  if (values.every((value) => value === first)) {
    const missed = 1 - tail ** (1 / Math.max(1, values.length));
    return bounded(first - missed, first + missed, "exact");
  }
  if (values.length > MOST_BOOTSTRAPPED) {
    const mean = meanOf(values);
    const reach = (normalQuantile(1 - tail) * deviationOf(values)) / Math.sqrt(values.length);
    return bounded(mean - reach, mean + reach, "normal");
  }
  const means = bootstrapMeans(values, settings.seed);
  return bounded(quantile(means, tail), quantile(means, 1 - tail), "bootstrap");
}

/** Returns the sorted means of resamples of the same size. */
function bootstrapMeans(values: Float64Array, seed: number): Float64Array {
  const random = new RandomSource(seed);
  const means = new Float64Array(RESAMPLES);
  for (let i = 0; i < RESAMPLES; i++) {
    let sum = 0;
    for (let j = 0; j < values.length; j++) sum += values[random.below(values.length)] as number;
    means[i] = sum / values.length;
  }
  return means.sort();
}

/** Returns the quantile of sorted values, with linear interpolation. */
function quantile(sorted: Float64Array, part: number): number {
  const place = (sorted.length - 1) * part;
  const below = Math.floor(place);
  const low = sorted[below] ?? 0;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? low;
  return low + (high - low) * (place - below);
}

/**
 * Returns the quantile of the standard normal distribution. Uses the rational approximation of
 * Acklam, with a relative error below 1.15e-9.
 */
export function normalQuantile(p: number): number {
  const a = [-3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2];
  a.push(1.38357751867269e2, -3.066479806614716e1, 2.506628277459239);
  const b = [-5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2];
  b.push(6.680131188771972e1, -1.328068155288572e1, 1);
  const c = [-7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838];
  c.push(-2.549732539343734, 4.374664141464968, 2.938163982698783);
  const d = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1];
  const sum = (factors: readonly number[], x: number): number =>
    factors.reduce((total, factor) => total * x + factor, 0);
  const tail = 0.02425;
  if (p > 1 - tail) return -normalQuantile(1 - p);
  if (p < tail) {
    const q = Math.sqrt(-2 * Math.log(p));
    return sum(c, q) / sum(d, q);
  }
  const q = p - 0.5;
  return (sum(a, q * q) * q) / sum(b, q * q);
}
