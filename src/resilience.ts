/** Model calls that fail, and how many of them there may be: retries, other models to turn to, rate limits. */
export { RateLimitTimeoutError } from "./contracts/errors.js";
export { RateLimit } from "./contracts/rate-limit.js";
export type { RetryPolicy } from "./contracts/retry.js";
export { fallback } from "./plugins/resilience/fallback/index.js";
export { rateLimited } from "./plugins/resilience/rate-limit/index.js";
export { retry } from "./plugins/resilience/retry/index.js";
export type { RetryOptions } from "./plugins/resilience/retry/index.js";
