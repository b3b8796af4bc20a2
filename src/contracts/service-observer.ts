import type { Service } from "./service.js";

/**
 * Observes the services of an ensemble, for instance for metrics. A contribution to
 * `Tokens.ServiceObserver`.
 */
export interface ServiceObserver {
  /**
   * Called for each start, before the service takes requests. Returns a function that is called when
   * the service has stopped.
   */
  observe(service: Service, limits: { readonly maxConcurrentRequests: number }): () => void;
}
