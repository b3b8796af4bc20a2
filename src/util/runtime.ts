import { randomUUID } from "node:crypto";

/** The clock of this machine. `monotonicMs` never goes back: durations are measured with it. */
export const systemClock: Readonly<{ now(): Date; monotonicMs(): number }> = Object.freeze({
  now: () => new Date(),
  monotonicMs: () => performance.now(),
});

/** Random UUIDs, version 4. */
export const uuidGenerator: Readonly<{ next(): string }> = Object.freeze({
  next: () => randomUUID(),
});
