import { randomUUID } from "node:crypto";

/** The clock of this machine. `monotonicMs` never decreases. Use it for durations. */
export const systemClock: Readonly<{ now(): Date; monotonicMs(): number }> = Object.freeze({
  now: () => new Date(),
  monotonicMs: () => performance.now(),
});

/** Generates random UUIDs, version 4. */
export const uuidGenerator: Readonly<{ next(): string }> = Object.freeze({
  next: () => randomUUID(),
});

/** Returns a random number from 0 (included) to 1 (excluded), for instance to spread delays. */
export function randomShare(): number {
  return Math.random();
}
