import type { RateLimit } from "./rate-limit.js";
import type { Awaitable } from "./types.js";

/** A rate limit that applies to a model call. */
export interface WindowLimit {
  /**
   * Names the window, equal in every process: `ensemble:{name}`, `agent:{role}`, `task:{name of the
   * ensemble}/{id}` or `model:{provider}:{modelId}`.
   */
  readonly key: string;
  /** The owner of the limit, for windows within one process. */
  readonly owner: object;
  readonly limit: RateLimit;
}

/** A model call that requests a start. */
export interface RateRequest {
  /** At least one. */
  readonly limits: readonly WindowLimit[];
  /** Estimated input tokens, reserved until the call ends; 0 if no limit counts tokens. */
  readonly tokens: number;
  /** Aborted at the end of the task. */
  readonly signal: AbortSignal;
}

/**
 * A slot in the windows of all limits. Neither method throws. A remote store processes the reports
 * asynchronously.
 */
export interface RateTurn {
  /** Reports the start of the model call. The periods begin here. Called at most once. */
  begin(): void;
  /**
   * Reports the end of the call and its used tokens. Without an earlier `begin`, releases the slot.
   * Called once.
   */
  end(usedTokens: number): void;
}

/** The delay of a call by one limit, in milliseconds. */
export interface LimitWait {
  /**
   * Delay until the call may start, if nothing further happens. Infinity if it depends on calls in
   * progress; the call then asks again soon.
   */
  readonly openMs: number;
  /** The minimum delay, if waiting calls never start and calls in progress use no tokens. */
  readonly atLeastMs: number;
}

/** The result for a call that may not start yet. */
export interface RateWait {
  /** One wait for each limit of the request, in order; at least one has an `openMs` above 0. */
  readonly waits: readonly LimitWait[];
}

/**
 * Counts the calls under rate limits. Bound to `Tokens.RateWindow`. Priorities, the limit of the
 * wait and pauses after a 429 are handled elsewhere.
 */
export interface RateWindow {
  /**
   * Time limit of `take` in milliseconds; then the call fails with LimitStoreError. Default 10,000.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Takes a slot in the windows of all limits, or in none. Returns a promise only if the count is
   * kept elsewhere. An error reaches the caller of the model as the cause of a LimitStoreError, and
   * the model is not called.
   */
  take(request: RateRequest): Awaitable<RateTurn | RateWait>;
}
