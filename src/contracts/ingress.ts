import type { DeliveryOptions, WorkBudget, WorkPriority } from "./network-options.js";
import type { HttpRoute } from "./http-route.js";
import type { EnqueueReceipt } from "./network.js";
import type { Clock } from "./runtime.js";
import type { Awaitable, Inputs } from "./types.js";

/** A request that an ingress creates from a message. */
export interface IngressWork {
  /** The name of a shared task or tool; `run` for the ensemble itself. */
  readonly task: string;
  readonly context?: string | undefined;
  readonly inputs?: Inputs | undefined;
  /** Default `NORMAL`. */
  readonly priority?: WorkPriority | undefined;
  /** Time limit of the request including its wait in the queue, in milliseconds. Default: no limit. */
  readonly deadlineMs?: number | undefined;
  readonly budget?: WorkBudget | undefined;
  readonly delivery?: DeliveryOptions | undefined;
  /** The version of the shared task or tool. Default: any. */
  readonly version?: string | undefined;
}

/** The interface of a service for an ingress. */
export interface IngressPort {
  /** The name of the ensemble. */
  readonly ensemble: string;
  readonly clock: Pick<Clock, "now">;
  /** Maximum size of a message in bytes. */
  readonly maxMessageBytes: number;
  /**
   * Accepts a request. `requestId` identifies the message: a repeated message must have the same
   * id, so that it is executed once.
   * @throws ServiceStateError while the service accepts no requests; NetworkError if the storage can't
   * be reached; RequestConflictError for a known id with other content; ValidationError for a
   * request that is invalid.
   */
  submit(requestId: string, work: IngressWork): Promise<EnqueueReceipt>;
  /** Reports a message that could not be accepted, as an event `service_warning`. */
  warn(message: string): void;
}

/** A source of requests of a service. It has `routes`, `open` or both. */
export interface Ingress {
  /** The name of the sender in requests: letters, digits, `-` and `_`. Unique in a service. */
  readonly name: string;
  /** The routes on the listener of the service, which then needs a port. */
  routes?(port: IngressPort): readonly HttpRoute[];
  /**
   * Starts to receive messages when the service is ready. Resolves with a function that stops this;
   * the service calls it when it stops accepting requests.
   */
  open?(port: IngressPort): Awaitable<() => Awaitable<void>>;
  /** Removes the secrets of this ingress from a text. The service applies it to all that it reports. */
  redact?(text: string): string;
}
