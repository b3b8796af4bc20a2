import { randomUUID } from "node:crypto";
import type { Clock, IdGenerator } from "../contracts/runtime.js";

/** The machine's clock. */
export const systemClock: Clock = Object.freeze({
  now: () => new Date(),
  monotonicMs: () => performance.now(),
});

/** Random version 4 UUIDs. */
export const uuidGenerator: IdGenerator = Object.freeze({ next: () => randomUUID() });
