import type { DeliveryOptions, WorkBudget, WorkCache, WorkPriority } from "./network-options.js";
import type { TraceContext } from "./propagation.js";
import type { BudgetAccounts } from "./budget-accounts.js";
import type { RateWindow } from "./rate-window.js";
import type { ReviewDecision } from "./review.js";
import type { Inputs } from "./types.js";
import type { ForeignUsage } from "./usage.js";
import { createToken } from "./token.js";

/** The version of {@link WorkRequest} and {@link WorkResponse}. */
export const WORK_VERSION = 1;

/**
 * A request to an ensemble that shares its work. JSON data. Unknown fields are kept in the request.
 */
export interface WorkRequest {
  readonly v: typeof WORK_VERSION;
  /**
   * Identifies the request and makes it idempotent: 1 to 200 characters without control characters.
   * The id of the run equals this id.
   */
  readonly requestId: string;
  /** The name of the requesting ensemble or caller. */
  readonly from: string;
  /** The name of the requested ensemble. */
  readonly to: string;
  /**
   * `TASK`: a shared task. `TOOL`: a shared tool. `RUN`: a run of the ensemble, if it shares its
   * run.
   */
  readonly type: "TASK" | "TOOL" | "RUN";
  /** The name of the shared task or tool. `run` for RUN. */
  readonly task: string;
  /** The text that fills `{context}` in the descriptions of a shared task. */
  readonly context?: string | undefined;
  /** The template variables of a task, or the arguments of a tool. */
  readonly inputs?: Inputs | undefined;
  /** Default `NORMAL`. */
  readonly priority?: WorkPriority | undefined;
  /** The milliseconds between the sending of the request and its deadline. Default: no deadline. */
  readonly deadlineMs?: number | undefined;
  readonly budget?: WorkBudget | undefined;
  readonly cache?: WorkCache | undefined;
  readonly delivery?: DeliveryOptions | undefined;
  readonly traceContext?: TraceContext | undefined;
  /**
   * The ensembles that the request has passed through. A request whose path contains the receiving
   * ensemble, or more than 8 names, is rejected with `LOOP`.
   */
  readonly path?: readonly string[] | undefined;
  /** The version of the shared task or tool. Default: any. */
  readonly version?: string | undefined;
  /**
   * `forward`: the caller answers the reviews of the execution. Default: reviews are answered at
   * the executing service.
   */
  readonly reviews?: "forward" | undefined;
  readonly [field: string]: unknown;
}

/** The reason for a response that is not `COMPLETED`. */
export type WorkReason =
  | "AT_CAPACITY"
  | "DRAINING"
  | "UNKNOWN"
  | "INVALID_INPUT"
  | "EXPIRED"
  | "TOO_LARGE"
  | "LOOP"
  | "VERSION"
  | "DENIED"
  | "RUN_FAILED"
  | "DEADLINE"
  | "BUDGET"
  | "QUOTA"
  | "POISON"
  | "CANCELLED";

/** The outcome of a request. JSON data. */
export interface WorkResponse {
  readonly v: typeof WORK_VERSION;
  readonly requestId: string;
  /** `REJECTED`: the request was not executed. */
  readonly status: "COMPLETED" | "FAILED" | "REJECTED" | "CANCELLED";
  /** The output as text. */
  readonly result?: string | undefined;
  /** The structured output. */
  readonly parsed?: unknown;
  /** Present if `result` was truncated at the limit of the service and `parsed` was omitted. */
  readonly truncated?: true | undefined;
  /** The reason for a failure, for the model or the caller. Contains no secrets. */
  readonly error?: string | undefined;
  readonly reason?: WorkReason | undefined;
  /** Milliseconds after which a repeated request may succeed. */
  readonly retryAfterMs?: number | undefined;
  /** Duration of the execution in milliseconds. 0 if the request was not executed. */
  readonly durationMs: number;
  /** The number of the delivery that produced the response, from 1. */
  readonly attempt?: number | undefined;
  /** The name of the instance that produced the response. */
  readonly servedBy?: string | undefined;
  /** The usage of the execution, one entry for each model. */
  readonly usage?: readonly ForeignUsage[] | undefined;
  readonly [field: string]: unknown;
}

/** The state of a request in its queue. */
export type QueueState = "QUEUED" | "LEASED" | "DONE" | "DEAD";

/** Numbers of requests in a queue, by state. Completed requests are not counted. */
export interface QueueDepth {
  readonly queued: number;
  readonly leased: number;
  readonly dead: number;
  /** Milliseconds that the oldest queued request has waited. 0 if no request is queued. */
  readonly oldestWaitMs: number;
}

/** A delivery of a request. The holder executes the request while the lease is valid. */
export interface Lease {
  readonly queue: string;
  readonly request: WorkRequest;
  /** Proves that the holder has the lease. Differs in each delivery. */
  readonly token: string;
  /**
   * The number of deliveries of the request, including this delivery. Deliveries released with
   * `blame: false` are not counted.
   */
  readonly attempt: number;
  /** Duration of the lease in milliseconds. */
  readonly leaseMs: number;
  /** Milliseconds between acceptance and this delivery. */
  readonly waitedMs: number;
}

/** A request that is not delivered until it is redriven. */
export interface DeadLetter {
  readonly request: WorkRequest;
  readonly reason: string;
}

/** The result of `enqueue`. */
export interface EnqueueReceipt {
  /**
   * `DUPLICATE`: the id is known with the same content. `FULL`: the request was not stored, because
   * the queue is full.
   */
  readonly status: "ACCEPTED" | "DUPLICATE" | "FULL";
}

/**
 * Requests that wait for execution. Each request is delivered at least once. A queue has the name
 * of its ensemble. The position of a request is its time of acceptance plus its rank times
 * `agingMs`. The rank is 0 for `CRITICAL` to 3 for `LOW`. Requests with equal positions are ordered
 * by arrival. Several processes may use one queue. All methods reject with `NetworkError` if the
 * storage can't be reached.
 */
export interface RequestQueue {
  /**
   * Accepts a request. Each id is accepted once, even after the request is done.
   *
   * @throws RequestConflictError if the id is known with different content (`to`, `type`, `task`,
   * `context` or `inputs`).
   */
  enqueue(
    queue: string,
    request: WorkRequest,
    options?: { readonly maxQueued?: number | undefined },
  ): Promise<EnqueueReceipt>;
  /** Waits for a request. Resolves with `undefined` after `timeoutMs` or when `signal` aborts. */
  dequeue(
    queue: string,
    options: {
      readonly timeoutMs: number;
      readonly leaseMs: number;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<Lease | undefined>;
  /**
   * Renews a lease. Returns false if the lease is lost. Default of `leaseMs`: the duration in the
   * lease.
   */
  extend(lease: Lease, leaseMs?: number): Promise<boolean>;
  /** Ends a delivery and marks the request as done. Returns false if the lease is lost. */
  acknowledge(lease: Lease): Promise<boolean>;
  /**
   * Returns a request to its previous position in the queue, after `delayMs` milliseconds (default
   * 0). With `blame: false` (default true), this delivery is not counted. Returns false if the
   * lease is lost.
   */
  release(
    lease: Lease,
    options?: { readonly delayMs?: number | undefined; readonly blame?: boolean | undefined },
  ): Promise<boolean>;
  /**
   * Makes a request a dead letter. Dead letters are not delivered. Keeps the first 1,500 characters
   * of the reason. Returns false if the lease is lost.
   */
  deadLetter(lease: Lease, reason: string): Promise<boolean>;
  /** Returns the dead letters, oldest first. */
  deadLetters(queue: string): Promise<readonly DeadLetter[]>;
  /** Returns a dead letter to the queue with attempt 1. Returns false for an unknown id. */
  redrive(queue: string, requestId: string): Promise<boolean>;
  /** Returns the state of a request. Returns `undefined` for an unknown id. */
  status(queue: string, requestId: string): Promise<QueueState | undefined>;
  depth(queue: string): Promise<QueueDepth>;
  close?(): Promise<void>;
}

/** The results of requests. The first result of an id is kept. Later results are refused. */
export interface ResultStore {
  /** Stores a result for `ttlMs` milliseconds. Returns false if the id already has a result. */
  store(requestId: string, response: WorkResponse, ttlMs: number): Promise<boolean>;
  /** Returns a result. Returns `undefined` if there is no result or the result has expired. */
  retrieve(requestId: string): Promise<WorkResponse | undefined>;
  /** Removes a result. A redriven request can then store a new result. */
  forget(requestId: string): Promise<void>;
  /**
   * Calls `callback` once with the result: immediately if the result exists, else when it is
   * stored. Resolves with a function that ends the subscription.
   */
  subscribe(requestId: string, callback: (response: WorkResponse) => void): Promise<() => void>;
  close?(): Promise<void>;
}

/**
 * Messages of at most 4 KiB as JSON, each delivered at most once: progress, broadcasts, requests to
 * cancel. No result depends on a message.
 */
export interface Topics {
  publish(topic: string, message: unknown): Promise<void>;
  /** Subscribes to a topic. Resolves with a function that ends the subscription. */
  subscribe(topic: string, callback: (message: unknown) => void): Promise<() => void>;
  close?(): Promise<void>;
}

/** A shared task or tool, as described to callers. */
export interface SharedCapability {
  readonly name: string;
  readonly type: WorkRequest["type"];
  readonly description: string;
  readonly version?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** The JSON Schema of the inputs. Absent: the inputs are `{ context: string }`. */
  readonly inputSchema?: unknown;
}

/** A running instance of a service. */
export interface CatalogueEntry {
  readonly ensemble: string;
  readonly instance: string;
  readonly description?: string | undefined;
  /** The HTTP address, if the instance has one. */
  readonly url?: string | undefined;
  readonly capabilities: readonly SharedCapability[];
  /** The limit of waiting requests. `network()` applies it. Absent: no limit. */
  readonly maxQueuedRequests?: number | undefined;
}

/**
 * The running instances of services. An entry disappears `ttlMs` milliseconds after its last
 * announcement.
 */
export interface Catalogue {
  announce(entry: CatalogueEntry, ttlMs: number): Promise<void>;
  withdraw(ensemble: string, instance: string): Promise<void>;
  entries(): Promise<readonly CatalogueEntry[]>;
  close?(): Promise<void>;
}

/** Counts rate limits and budgets over all processes that use a backend. */
export interface FleetLimits {
  readonly rateWindow: RateWindow;
  readonly budgetAccounts: BudgetAccounts;
}

/** The storage that instances of services share with their callers. */
export interface NetworkBackend {
  /** The name of the storage, for example `memory`. */
  readonly name: string;
  readonly queue: RequestQueue;
  readonly results: ResultStore;
  readonly topics: Topics;
  readonly catalogue: Catalogue;
  /** Absent: limits and budgets are counted within each process. */
  readonly limits?: FleetLimits | undefined;
  /**
   * Removes the secrets of this backend from a text. Services and callers apply it to traces and
   * logs.
   */
  redact?(text: string): string;
  close(): Promise<void>;
}

/** The access of a caller to another ensemble. Every call may be repeated. */
export interface Remote {
  send(request: WorkRequest): Promise<EnqueueReceipt>;
  /** Waits for the result. Resolves with `undefined` after `timeoutMs` or when `signal` aborts. */
  response(
    requestId: string,
    options: {
      readonly timeoutMs: number;
      readonly signal?: AbortSignal | undefined;
      readonly onProgress?: ((progress: unknown) => void) | undefined;
    },
  ): Promise<WorkResponse | undefined>;
  /** Answers a review of the remote run. Returns false if the review already has an answer. */
  decide(requestId: string, reviewId: string, decision: ReviewDecision): Promise<boolean>;
  /** Requests cancellation. Returns false if the request has ended or is unknown. */
  cancel(requestId: string, reason?: string): Promise<boolean>;
  capabilities(): Promise<readonly SharedCapability[]>;
  /** Removes the secrets of this connection from a text. Callers apply it to traces and logs. */
  redact?(text: string): string;
  close(): Promise<void>;
}

/** Sends requests to one ensemble, and receives requests for it. */
export interface Transport extends Remote {
  readonly name: string;
  receive(options: {
    readonly timeoutMs: number;
    readonly leaseMs: number;
    readonly signal?: AbortSignal | undefined;
  }): Promise<Lease | undefined>;
  /** Stores the result, then acknowledges the request. Returns whether this result was kept. */
  deliver(lease: Lease, response: WorkResponse): Promise<boolean>;
}

/** The tokens of services and their callers. */
export const NetworkTokens = Object.freeze({
  /** The backend of services whose `start()` receives no backend. Default: a backend in memory. */
  NetworkBackend: createToken<NetworkBackend>("NetworkBackend"),
});
