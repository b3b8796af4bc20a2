import type { DeliveryOptions, WorkBudget, WorkPriority } from "./network-options.js";
import type { HttpRoute } from "./http-route.js";
import type { EnqueueReceipt } from "./network.js";
import type { Clock } from "./runtime.js";
import type { Awaitable, Inputs } from "./types.js";

/** A request for a service, created by an ingress from a message. */
export interface IngressWork {
  /** The name of a shared task or tool. `run` for a run of the ensemble. */
  readonly task: string;
  readonly context?: string | undefined;
  readonly inputs?: Inputs | undefined;
  /** The priority of the request. Default `NORMAL`. */
  readonly priority?: WorkPriority | undefined;
  /**
   * Time limit of the request in milliseconds, including its wait in the queue. Default: no limit.
   */
  readonly deadlineMs?: number | undefined;
  readonly budget?: WorkBudget | undefined;
  readonly delivery?: DeliveryOptions | undefined;
  /** The version of the shared task or tool. Default: any. */
  readonly version?: string | undefined;
}

/** The part of a service that an ingress can use. */
export interface IngressPort {
  /** The name of the ensemble. */
  readonly ensemble: string;
  readonly clock: Pick<Clock, "now">;
  /** Maximum size of a message in bytes. */
  readonly maxMessageBytes: number;
  /**
   * Submits a request. `requestId` identifies the message. If a message is received again, pass the
   * same id. The request is then executed only once.
   *
   * @throws ServiceStateError while the service accepts no requests; NetworkError if the storage
   * can't be reached; RequestConflictError if the id is known with different content;
   * ValidationError for an invalid request.
   */
  submit(requestId: string, work: IngressWork): Promise<EnqueueReceipt>;
  /** Reports a message that could not be accepted, as an event `service_warning`. */
  warn(message: string): void;
}

/** A source of requests of a service. Must have `routes`, `open` or both. */
export interface Ingress {
  /** The name of the sender in requests: letters, digits, `-` and `_`. Unique in a service. */
  readonly name: string;
  /** Returns the routes on the listener of the service. The service then needs a port. */
  routes?(port: IngressPort): readonly HttpRoute[];
  /**
   * Starts receiving messages. Called when the service is ready. Resolves with a function that ends
   * the reception. The service calls this function when it stops accepting requests.
   */
  open?(port: IngressPort): Awaitable<() => Awaitable<void>>;
  /**
   * Removes the secrets of this ingress from a text. The service passes all texts of its reports
   * through this method.
   */
  redact?(text: string): string;
}
