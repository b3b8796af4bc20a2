import type { Service } from "./service.js";

/**
 * Observes the services of an ensemble, for instance for metrics. Contributed to
 * `Tokens.ServiceObserver`.
 */
export interface ServiceObserver {
  /**
   * Called at each start, before the service accepts requests. Returns a function that is called
   * after the service has stopped.
   */
  observe(service: Service, limits: { readonly maxConcurrentRequests: number }): () => void;
}
