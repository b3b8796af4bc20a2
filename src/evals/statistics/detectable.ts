import { deviationOf, normalQuantile } from "./intervals.js";

/** With fewer differing pairs, no sign test reaches 0.05. */
export const FEWEST_PAIRS = 6;
const POWER = 0.8;

/**
 * Returns the minimum mean difference that a paired comparison of this many cases detects with a
 * probability of 80 %. The formula is `(z(1 - alpha / 2) + z(0.8)) * s / sqrt(n)`. If all
 * differences are equal, the minimum is `6 / n`. Returns `undefined` for fewer than 6 pairs.
 */
export function detectableDifference(
  differences: Float64Array,
  confidence: number,
): number | undefined {
  return detectable(differences.length, deviationOf(differences), confidence);
}

/**
 * Returns the same value for a future second evaluation, on the assumption of independent scores.
 */
export function detectableNextTime(means: Float64Array, confidence: number): number | undefined {
  return detectable(means.length, Math.SQRT2 * deviationOf(means), confidence);
}

function detectable(n: number, deviation: number, confidence: number): number | undefined {
  if (n < FEWEST_PAIRS) return undefined;
  const z = normalQuantile(1 - (1 - confidence) / 2) + normalQuantile(POWER);
  return Math.max((z * deviation) / Math.sqrt(n), deviation === 0 ? FEWEST_PAIRS / n : 0);
}
