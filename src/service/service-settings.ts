import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { StartOptions } from "../contracts/service.js";

/** Maximum size of a result in bytes. Longer results are cut. */
const MOST_RESULT_BYTES = 16 * 1024 * 1024;
const MOST_REQUEST_BYTES = 1024 * 1024;

/** Settings of a service, with defaults. */
export interface ServiceSettings {
  readonly name: string;
  readonly instance: string;
  readonly leaseMs: number;
  readonly maxAttempts: number;
  readonly resultTtlMs: number;
  readonly maxMessageBytes: number;
  readonly maxResultBytes: number;
  readonly drainTimeoutMs: number;
  readonly maxConcurrentRequests: number;
  readonly maxQueuedRequests: number;
}

/** Applies the defaults to options that have been checked. */
export function serviceSettings(
  ensemble: EnsembleOptions,
  start: StartOptions,
  generated: { readonly instance: string },
): ServiceSettings {
  return Object.freeze({
    name: ensemble.name ?? "",
    instance: start.instance ?? generated.instance,
    leaseMs: start.leaseMs ?? 30_000,
    maxAttempts: start.maxAttempts ?? 5,
    resultTtlMs: start.resultTtlMs ?? 86_400_000,
    maxMessageBytes: start.maxMessageBytes ?? MOST_REQUEST_BYTES,
    maxResultBytes: MOST_RESULT_BYTES,
    drainTimeoutMs: ensemble.drainTimeoutMs ?? 300_000,
    maxConcurrentRequests: start.queue?.concurrency ?? ensemble.maxConcurrentRequests ?? 10,
    maxQueuedRequests: ensemble.maxQueuedRequests ?? 1_000,
  });
}
