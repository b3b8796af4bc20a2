/** Where times come from; bind another for tests and replay. */
export interface Clock {
  now(): Date;
  /** Milliseconds from an arbitrary start, never going back: what durations are measured with. */
  monotonicMs(): number;
}

/** Where ids come from; bind another for tests and replay. */
export interface IdGenerator {
  next(): string;
}
