/**
 * The priority of a request. Requests with a higher priority delay a request only for a limited
 * time.
 */
export type WorkPriority = "CRITICAL" | "HIGH" | "NORMAL" | "LOW";

/** Limits of the usage of one request's execution. Absent: no limit. */
export interface WorkBudget {
  readonly maxTokens?: number | undefined;
  readonly maxCost?: number | undefined;
  /** Currency of `maxCost`. Default `USD`. */
  readonly currency?: string | undefined;
}

/** Reuse of the result of an earlier request with the same key, task and version. */
export interface WorkCache {
  /**
   * `USE_CACHED` uses a kept result if there is one. `FORCE_FRESH` executes the request and
   * replaces the kept result.
   */
  readonly policy: "USE_CACHED" | "FORCE_FRESH";
  readonly key: string;
  /** Limit of the age of a kept result, in milliseconds. */
  readonly maxAgeMs: number;
}

/** The destination of the result, in addition to the result store. */
export interface DeliveryOptions {
  readonly method: "STORE" | "WEBHOOK" | "TOPIC" | "NONE";
  /** The URL of the webhook, or the name of the topic. */
  readonly address?: string | undefined;
}
