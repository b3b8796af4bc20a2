import type { RateLimit } from "./rate-limit.js";
import type { Awaitable } from "./types.js";

/** A rate limit that holds for a model call. */
export interface WindowLimit {
  /** Names the window, the same in every process: `ensemble:{name}`, `agent:{role}`, `task:{name of the ensemble}/{id}` or `model:{provider}:{modelId}`. */
  readonly key: string;
  /** Who has the limit, for windows within one process. */
  readonly owner: object;
  readonly limit: RateLimit;
}

/** A model call that asks for its turn. */
export interface RateRequest {
  /** At least one. */
  readonly limits: readonly WindowLimit[];
  /** Estimated input tokens, reserved until the call ends; 0 where no limit counts tokens. */
  readonly tokens: number;
  /** Ends with the task. */
  readonly signal: AbortSignal;
}

/** A place in the windows of all limits. Neither method throws: a store elsewhere takes what it is told in its own time. */
export interface RateTurn {
  /** The model has been called: the periods count from here. Called at most once. */
  begin(): void;
  /** The call is over and has used so many tokens. Without `begin` before it the place is given back. Called once. */
  end(usedTokens: number): void;
}

/** How long one limit holds a call up, in milliseconds. */
export interface LimitWait {
  /** Until the call may start, if nothing further happens. Infinity where that depends on calls in flight; the call asks again soon. */
  readonly openMs: number;
  /** The same at the best, when calls that have not begun never do and those in flight use nothing. */
  readonly atLeastMs: number;
}

/** What a call gets that may not start yet. */
export interface RateWait {
  /** One for each limit of the request, in their order; at least one has an `openMs` above 0. */
  readonly waits: readonly LimitWait[];
}

/** Counts the calls under rate limits. Bound to `Tokens.RateWindow`; priorities, the limit on the wait and pauses after a 429 are not its concern. */
export interface RateWindow {
  /** How long an answer of `take` may take, in milliseconds; then the call fails with LimitStoreError. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Takes a place in the windows of all limits at once, or in none. A promise only where the count is kept elsewhere.
   * What it throws reaches the caller of the model as the cause of a LimitStoreError, and the model is not called.
   */
  take(request: RateRequest): Awaitable<RateTurn | RateWait>;
}
