/** Converts from the monotonic clock of the run to the time of day. */
export type WallClock = (monotonicMs: number) => Date;

/** The start and the end of a period. */
export interface Span {
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly durationMs: number;
}

export function spanOf(clock: WallClock, startedMs: number, endedMs: number): Span {
  const durationMs = Math.max(0, endedMs - startedMs);
  return { startedAt: clock(startedMs), completedAt: clock(startedMs + durationMs), durationMs };
}
