import type { Awaitable } from "./types.js";

/**
 * Counts the tokens of a text, exactly or by an estimate. Used for budgets, context limits and
 * `explain()`.
 */
export interface TokenCounter {
  count(text: string): Awaitable<number>;
}
