import type { Awaitable } from "./types.js";

/**
 * Counts the tokens of a text, exactly or by estimate. Used by budgets, context limits and
 * `explain()`.
 */
export interface TokenCounter {
  count(text: string): Awaitable<number>;
}
