/** The purpose of an id. */
export type IdUse = "run" | "delegation" | "request" | "instance";

/** The source of times. Bind another clock for tests and replays. */
export interface Clock {
  now(): Date;
  /**
   * Returns milliseconds since an arbitrary start. The value never decreases. Used for durations.
   */
  monotonicMs(): number;
  /**
   * Returns the start time of the run with this id, if it differs from `now()`. A replay returns
   * the time of the recorded run.
   */
  startOf?(runId: string): Date | undefined;
  /**
   * Waits `ms` milliseconds of this clock before the next attempt of a failed model call. After an
   * abort, rejects with the signal's reason. Default: a timer.
   */
  sleep?(ms: number, signal: AbortSignal): Promise<void>;
}

/** The source of ids. Bind another generator for tests and replays. */
export interface IdGenerator {
  next(use?: IdUse): string;
  /**
   * Releases the id of a run that was refused before its start. A replay gives the id to the next
   * run.
   */
  giveBack?(id: string): void;
}
