/**
 * Limits and failures of model calls: retries, fallback models, rate limits, budgets, a cache, and
 * a limit of the conversation's length.
 */
export { BudgetExceededError } from "./contracts/state-errors.js";
export { RateLimitTimeoutError } from "./contracts/errors.js";
export { RateLimit } from "./contracts/rate-limit.js";
export type { RetryPolicy } from "./contracts/retry.js";
export { budget } from "./plugins/resilience/budget/index.js";
export type { BudgetOptions } from "./plugins/resilience/budget/index.js";
export { cache } from "./plugins/resilience/cache/index.js";
export type {
  CachedResponse,
  CacheOptions,
  ResponseStore,
} from "./plugins/resilience/cache/index.js";
export { contextLimit } from "./plugins/resilience/context-limit/index.js";
export type {
  CompactOptions,
  ContextLimitOptions,
} from "./plugins/resilience/context-limit/index.js";
export { fallback } from "./plugins/resilience/fallback/index.js";
export { rateLimited } from "./plugins/resilience/rate-limit/index.js";
export { retry } from "./plugins/resilience/retry/index.js";
export type { RetryOptions } from "./plugins/resilience/retry/index.js";
