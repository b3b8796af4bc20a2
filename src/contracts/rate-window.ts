import type { RateLimit } from "./rate-limit.js";
import type { Awaitable } from "./types.js";

/** A rate limit that applies to a model call. */
export interface WindowLimit {
  /**
   * Identifies the window in every process: `ensemble:{name}`, `agent:{role}`, `task:{name of the
   * ensemble}/{id}` or `model:{provider}:{modelId}`.
   */
  readonly key: string;
  /** The owner of the limit. Identifies windows within one process. */
  readonly owner: object;
  readonly limit: RateLimit;
}

/** A request of a model call to start. */
export interface RateRequest {
  /** The limits that apply, at least one. */
  readonly limits: readonly WindowLimit[];
  /**
   * Estimated input tokens, reserved until the call ends. 0 if none of the limits counts tokens.
   */
  readonly tokens: number;
  /** Aborted at the end of the task. */
  readonly signal: AbortSignal;
}

/**
 * A slot in the windows of all limits. Its methods never throw. A remote store processes the
 * reports asynchronously.
 */
export interface RateTurn {
  /** Reports the start of the model call, at which the periods begin. Called at most once. */
  begin(): void;
  /**
   * Reports the end of the call and its used tokens. If `begin` was not called, releases the slot.
   * Called once.
   */
  end(usedTokens: number): void;
}

/** The delay of a call that one limit causes, in milliseconds. */
export interface LimitWait {
  /**
   * The delay until the call may start if nothing else happens. Infinity if the delay depends on
   * calls in progress. The call then tries again after a short time.
   */
  readonly openMs: number;
  /**
   * The minimum delay, on the assumption that waiting calls never start and calls in progress use
   * no tokens.
   */
  readonly atLeastMs: number;
}

/** The result for a call that may not start yet. */
export interface RateWait {
  /**
   * One wait for each limit of the request, in the same order. At least one of them has an `openMs`
   * above 0.
   */
  readonly waits: readonly LimitWait[];
}

/**
 * Counts calls for rate limits. Bound to `Tokens.RateWindow`. Does not handle priorities, wait
 * limits and pauses after a response with status 429.
 */
export interface RateWindow {
  /**
   * Time limit of `take` in milliseconds. After this time the call fails with LimitStoreError.
   * Default 10,000.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Takes a slot in the windows of all limits, or in none. Returns a promise only if the count is
   * kept in another process. If it throws, the model is not called, and the caller receives a
   * LimitStoreError with the error as its cause.
   */
  take(request: RateRequest): Awaitable<RateTurn | RateWait>;
}
