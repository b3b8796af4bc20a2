/** What an id is for. */
export type IdUse = "run" | "delegation" | "request" | "instance";

/** Where times come from; bind another for tests and replay. */
export interface Clock {
  now(): Date;
  /** Milliseconds from an arbitrary start, never going back: what durations are measured with. */
  monotonicMs(): number;
  /** When the run of this id counts as started, where that is not `now()`: a replay repeats the instants of the recorded run. */
  startOf?(runId: string): Date | undefined;
  /** Waits `ms` before a failed model call is tried again, by this clock's time. Rejects with the signal's reason when aborted. Default: a timer. */
  sleep?(ms: number, signal: AbortSignal): Promise<void>;
}

/** Where ids come from; bind another for tests and replay. */
export interface IdGenerator {
  next(use?: IdUse): string;
}
