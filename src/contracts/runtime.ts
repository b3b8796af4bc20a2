/** The use of an id. */
export type IdUse = "run" | "delegation" | "request" | "instance";

/** The source of times. Bind another one for tests and replay. */
export interface Clock {
  now(): Date;
  /** Milliseconds since an arbitrary start, never decreasing. Durations use it. */
  monotonicMs(): number;
  /**
   * Returns the start time of the run with this id, if it differs from `now()`: a replay repeats
   * the times of the recorded run.
   */
  startOf?(runId: string): Date | undefined;
  /**
   * Waits `ms` milliseconds of this clock before the next attempt of a failed model call. Rejects
   * with the signal's reason after an abort. Default: a timer.
   */
  sleep?(ms: number, signal: AbortSignal): Promise<void>;
}

/** The source of ids. Bind another one for tests and replay. */
export interface IdGenerator {
  next(use?: IdUse): string;
  /** Releases the id of a run that was refused before its start. A replay uses it for the next run. */
  giveBack?(id: string): void;
}
