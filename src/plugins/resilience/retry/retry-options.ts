import type { RetrySettings } from "../shared/attempt-policy.js";
import { checkOptions, requireDelay, requireInteger } from "../../../contracts/validation.js";

/** Options of `retry`. Times are in milliseconds. */
export interface RetryOptions {
  /** Limit of attempts of a call with each model. 1 disables retries. Default 3. */
  readonly maxAttempts?: number | undefined;
  /**
   * The delay before the second attempt. It doubles with each further attempt. A random part of up
   * to half is subtracted, so parallel calls are not repeated at the same time. Default 500.
   */
  readonly baseDelayMs?: number | undefined;
  /** Limit of these delays. Default 20,000. */
  readonly maxDelayMs?: number | undefined;
  /**
   * Maximum delay that a vendor may request (`Retry-After`). A call with a longer delay is not
   * retried. Default 60,000.
   */
  readonly maxRetryAfterMs?: number | undefined;
}

const DEFAULTS = Object.freeze({
  maxAttempts: 3,
  baseDelayMs: 500,
  maxDelayMs: 20_000,
  maxRetryAfterMs: 60_000,
});

/**
 * Applies the defaults. Without options, each model declares its number of attempts.
 * @throws ValidationError for an unknown option or a value out of range.
 */
export function resolveRetryOptions(options: RetryOptions | undefined): RetrySettings {
  if (options === undefined) return Object.freeze({ ...DEFAULTS, maxAttempts: undefined });
  checkOptions("retry", options, Object.keys(DEFAULTS));
  requireInteger("retry maxAttempts", options.maxAttempts, 1, "> 0");
  requireDelay("retry baseDelayMs", options.baseDelayMs);
  requireDelay("retry maxDelayMs", options.maxDelayMs);
  requireDelay("retry maxRetryAfterMs", options.maxRetryAfterMs);
  return Object.freeze({
    maxAttempts: options.maxAttempts ?? DEFAULTS.maxAttempts,
    baseDelayMs: options.baseDelayMs ?? DEFAULTS.baseDelayMs,
    maxDelayMs: options.maxDelayMs ?? DEFAULTS.maxDelayMs,
    maxRetryAfterMs: options.maxRetryAfterMs ?? DEFAULTS.maxRetryAfterMs,
  });
}
