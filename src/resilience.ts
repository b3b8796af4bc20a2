/** Model calls that fail, and how many of them there may be: retries, other models to turn to, rate limits, budgets, a cache, the length of conversations. */
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
