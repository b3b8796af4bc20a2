/** Measured values in increasing order. */
export type Sample = readonly number[];

export function sampleOf(values: readonly number[]): Sample {
  return [...values].sort((a, b) => a - b);
}

/** The middle of a sample. @throws Error for an empty one. */
export function median(sample: Sample): number {
  const middle = sample[Math.floor(sample.length / 2)];
  if (middle === undefined) throw new Error("No median of nothing");
  return middle;
}
