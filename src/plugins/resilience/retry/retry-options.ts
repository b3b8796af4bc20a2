import type { RetrySettings } from "../shared/attempt-policy.js";
import { checkOptions, requireDelay, requireInteger } from "../../../contracts/validation.js";

/** Options of `retry`. Times are milliseconds. */
export interface RetryOptions {
  /** How often a call is tried in all, with each model. Default 3; 1 turns retries off. */
  readonly maxAttempts?: number | undefined;
  /** The wait before the second attempt; it doubles with each further one, and is shortened by up to half so that calls do not come back together. Default 500. */
  readonly baseDelayMs?: number | undefined;
  /** The longest of these waits. Default 20,000. */
  readonly maxDelayMs?: number | undefined;
  /** The longest wait that a vendor may ask for (`Retry-After`); who asks for more is not waited for. Default 60,000. */
  readonly maxRetryAfterMs?: number | undefined;
}

const DEFAULTS = Object.freeze({
  maxAttempts: 3,
  baseDelayMs: 500,
  maxDelayMs: 20_000,
  maxRetryAfterMs: 60_000,
});

/** Applies the defaults; without options the number of attempts is each model's own. @throws ValidationError for what does not fit. */
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
