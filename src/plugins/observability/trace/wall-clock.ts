/** From the run's monotonic clock to the time of day. */
export type WallClock = (monotonicMs: number) => Date;

/** When something began and ended. */
export interface Span {
  readonly startedAt: Date;
  readonly completedAt: Date;
  readonly durationMs: number;
}

export function spanOf(clock: WallClock, startedMs: number, endedMs: number): Span {
  const durationMs = Math.max(0, endedMs - startedMs);
  return { startedAt: clock(startedMs), completedAt: clock(startedMs + durationMs), durationMs };
}
