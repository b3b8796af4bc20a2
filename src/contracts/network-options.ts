/** Priority of a request. A lower one is overtaken for a limited time only. */
export type WorkPriority = "CRITICAL" | "HIGH" | "NORMAL" | "LOW";

/** Limits of what the execution of a request may use. Absent: no limit. */
export interface WorkBudget {
  readonly maxTokens?: number | undefined;
  readonly maxCost?: number | undefined;
  /** Currency of `maxCost`. Default `USD`. */
  readonly currency?: string | undefined;
}

/** Reuse of the result of an earlier request with the same key, task and version. */
export interface WorkCache {
  /** `FORCE_FRESH` executes the request and replaces the kept result. */
  readonly policy: "USE_CACHED" | "FORCE_FRESH";
  readonly key: string;
  /** Age in milliseconds above which a kept result is not used. */
  readonly maxAgeMs: number;
}

/** Where the result is sent in addition to the result store. */
export interface DeliveryOptions {
  readonly method: "STORE" | "WEBHOOK" | "TOPIC" | "NONE";
  /** The URL of the webhook, or the name of the topic. */
  readonly address?: string | undefined;
}
