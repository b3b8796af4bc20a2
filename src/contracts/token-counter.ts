import type { Awaitable } from "./types.js";

/** Says how many tokens a text has: exactly, or by a good guess. Budgets, context limits and `explain()` ask it. */
export interface TokenCounter {
  count(text: string): Awaitable<number>;
}
