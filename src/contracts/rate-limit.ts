import { ValidationError } from "./errors.js";
import { checkOptions, preview, requireDuration, requireInteger } from "./validation.js";

declare module "./errors.js" {
  interface ErrorContents {
    readonly rateLimit: RateLimit;
  }
}

interface RateLimitChanges {
  /** Limit of the wait of a call, in milliseconds. Default 30,000. */
  readonly waitTimeoutMs?: number | undefined;
  /** Limit of the tokens per period, in addition to the limit of requests. Default: no limit. */
  readonly tokens?: number | undefined;
}

/**
 * Limits the number of model calls that start within any period of a given length. Applies to an
 * ensemble, an agent, a task or a model. Immutable. An agent, a task or a model with a limit has
 * one window for all runs of a kernel. Ensembles of a kernel that use the same limit object share
 * one window.
 */
export class RateLimit {
  private constructor(
    readonly requests: number,
    readonly periodMs: number,
    readonly waitTimeoutMs: number,
    readonly tokens: number | undefined,
  ) {
    Object.freeze(this);
  }

  /**
   * Allows `requests` calls to start within any `periodMs` milliseconds.
   * @throws ValidationError unless both are above 0.
   */
  static of(requests: number, periodMs: number): RateLimit {
    requireInteger("RateLimit requests", requests, 1, "> 0");
    if (requests === undefined)
      throw new ValidationError("RateLimit requests must be > 0, got: undefined");
    if (periodMs === undefined || periodMs === null) {
      throw new ValidationError("RateLimit period must not be null", {
        hint: "RateLimit.of(requests, periodMs) takes the period in milliseconds.",
      });
    }
    if (typeof periodMs !== "number" || !(periodMs > 0) || !Number.isFinite(periodMs))
      throw new ValidationError(`RateLimit period must be positive, got: ${preview(periodMs)}`);
    return new RateLimit(requests, periodMs, 30_000, undefined);
  }

  static perSecond(n: number): RateLimit {
    return RateLimit.of(n, 1_000);
  }

  static perMinute(n: number): RateLimit {
    return RateLimit.of(n, 60_000);
  }

  /** Returns a copy with another limit of the wait or of tokens. @throws ValidationError */
  with(o: RateLimitChanges): RateLimit {
    checkOptions("RateLimit.with", o, ["waitTimeoutMs", "tokens"]);
    requireDuration("RateLimit waitTimeoutMs", o.waitTimeoutMs);
    requireInteger("RateLimit tokens", o.tokens, 1, "> 0");
    return new RateLimit(
      this.requests,
      this.periodMs,
      o.waitTimeoutMs ?? this.waitTimeoutMs,
      "tokens" in o ? o.tokens : this.tokens,
    );
  }
}

/** @throws ValidationError unless `limit` is absent or a RateLimit. */
export function checkRateLimit(what: string, limit: unknown): void {
  if (limit !== undefined && !(limit instanceof RateLimit)) {
    throw new ValidationError(`${what} must be a RateLimit, got: ${preview(limit)}`, {
      hint: "Make it with RateLimit.of(requests, periodMs), perSecond(n) or perMinute(n).",
    });
  }
}
