/** Measured values in increasing order. */
export type Sample = readonly number[];

export function sampleOf(values: readonly number[]): Sample {
  return [...values].sort((a, b) => a - b);
}

/** Returns the median of a sample. @throws Error for an empty sample. */
export function median(sample: Sample): number {
  const middle = sample[Math.floor(sample.length / 2)];
  if (middle === undefined) throw new Error("No median of nothing");
  return middle;
}
