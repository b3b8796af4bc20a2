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
 * A request to an ensemble that shares its work. It is JSON. Unknown fields are kept and passed on.
 */
export interface WorkRequest {
  readonly v: typeof WORK_VERSION;
  /**
   * Identifies the request and makes it idempotent: 1 to 200 characters without control characters.
   * It is also the id of the run.
   */
  readonly requestId: string;
  /** The name of the requesting ensemble or caller. */
  readonly from: string;
  /** The name of the requested ensemble. */
  readonly to: string;
  /** `RUN`: a run of the ensemble, if it shares its run. */
  readonly type: "TASK" | "TOOL" | "RUN";
  /** The name of the shared task or tool; `run` for RUN. */
  readonly task: string;
  /** Fills `{context}` in the descriptions of a shared task. */
  readonly context?: string | undefined;
  /** Template variables of a task, or the arguments of a tool. */
  readonly inputs?: Inputs | undefined;
  /** Default `NORMAL`. */
  readonly priority?: WorkPriority | undefined;
  /** Milliseconds that were left when the request was sent. Default: none. */
  readonly deadlineMs?: number | undefined;
  readonly budget?: WorkBudget | undefined;
  readonly cache?: WorkCache | undefined;
  readonly delivery?: DeliveryOptions | undefined;
  readonly traceContext?: TraceContext | undefined;
  /** The ensembles that the request has passed. The own name in it, or more than 8: `LOOP`. */
  readonly path?: readonly string[] | undefined;
  /** The version of the shared task or tool. Default: any. */
  readonly version?: string | undefined;
  /** `forward`: the caller answers the reviews of the execution. Default: who is there. */
  readonly reviews?: "forward" | undefined;
  readonly [field: string]: unknown;
}

/** The reason of a response that is not `COMPLETED`. */
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

/** The outcome of a request. It is JSON. */
export interface WorkResponse {
  readonly v: typeof WORK_VERSION;
  readonly requestId: string;
  /** `REJECTED`: nothing was executed. */
  readonly status: "COMPLETED" | "FAILED" | "REJECTED" | "CANCELLED";
  /** The output as text. */
  readonly result?: string | undefined;
  /** The structured output. */
  readonly parsed?: unknown;
  /** Whether `result` was truncated at the limit of the service, and `parsed` omitted. */
  readonly truncated?: true | undefined;
  /** The reason for the model or the caller, without secrets. */
  readonly error?: string | undefined;
  readonly reason?: WorkReason | undefined;
  /** Milliseconds after which a repetition may succeed. */
  readonly retryAfterMs?: number | undefined;
  /** Duration of the execution in milliseconds; 0 if nothing was executed. */
  readonly durationMs: number;
  /** The delivery that produced the response; 1 for the first. */
  readonly attempt?: number | undefined;
  /** The instance that produced the response. */
  readonly servedBy?: string | undefined;
  /** The usage of the execution, one entry for each model. */
  readonly usage?: readonly ForeignUsage[] | undefined;
  readonly [field: string]: unknown;
}

/** The state of a request in its queue. */
export type QueueState = "QUEUED" | "LEASED" | "DONE" | "DEAD";

/** Requests of a queue by state; those that are done are not counted. */
export interface QueueDepth {
  readonly queued: number;
  readonly leased: number;
  readonly dead: number;
  /** Milliseconds that the oldest queued request has waited; 0 if none is queued. */
  readonly oldestWaitMs: number;
}

/** A delivery of a request. Its holder executes the request until the lease ends. */
export interface Lease {
  readonly queue: string;
  readonly request: WorkRequest;
  /** Proves who holds the request. Differs in each delivery. */
  readonly token: string;
  /** Counts the deliveries of the request, except those given back without blame; 1 for the first. */
  readonly attempt: number;
  /** Duration of the lease in milliseconds. */
  readonly leaseMs: number;
  /** Milliseconds between acceptance and this delivery. */
  readonly waitedMs: number;
}

/** A request that is delivered no more until it is redriven. */
export interface DeadLetter {
  readonly request: WorkRequest;
  readonly reason: string;
}

/** The result of `enqueue`. */
export interface EnqueueReceipt {
  /** `DUPLICATE`: the id is known with the same content. `FULL`: nothing was kept. */
  readonly status: "ACCEPTED" | "DUPLICATE" | "FULL";
}

/**
 * Requests that wait for execution. Delivers each at least once. The queue `name` is the name of an
 * ensemble. Order: by acceptance plus rank times `agingMs` (rank 0 for `CRITICAL` to 3 for `LOW`),
 * then by arrival. Several processes may use one queue. Methods reject with `NetworkError` if the
 * store can't be reached.
 */
export interface RequestQueue {
  /**
   * Accepts a request. Each id is accepted once, also after it is done.
   * @throws RequestConflictError if the id is known with other content (`to`, `type`, `task`,
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
  /** Renews a lease. Returns false if the lease is lost. Default `leaseMs`: that of the lease. */
  extend(lease: Lease, leaseMs?: number): Promise<boolean>;
  /** Ends a delivery: the request is done. Returns false if the lease is lost. */
  acknowledge(lease: Lease): Promise<boolean>;
  /**
   * Returns a request to its previous position, after `delayMs` (default 0). With `blame: false`
   * (default true) this delivery does not count. Returns false if the lease is lost.
   */
  release(
    lease: Lease,
    options?: { readonly delayMs?: number | undefined; readonly blame?: boolean | undefined },
  ): Promise<boolean>;
  /**
   * Ends all deliveries of a request. Keeps 1,500 characters of the reason. Returns false if the lease is lost.
   */
  deadLetter(lease: Lease, reason: string): Promise<boolean>;
  /** Returns the dead letters, oldest first. */
  deadLetters(queue: string): Promise<readonly DeadLetter[]>;
  /** Queues a dead letter again with attempt 1. Returns false if there is none with this id. */
  redrive(queue: string, requestId: string): Promise<boolean>;
  /** `undefined` for an unknown id. */
  status(queue: string, requestId: string): Promise<QueueState | undefined>;
  depth(queue: string): Promise<QueueDepth>;
  close?(): Promise<void>;
}

/** Results of requests. The first result of an id is kept; later ones are refused. */
export interface ResultStore {
  /** Keeps a result for `ttlMs`. Returns false if there is one already. */
  store(requestId: string, response: WorkResponse, ttlMs: number): Promise<boolean>;
  /** `undefined` if there is none, or none any more. */
  retrieve(requestId: string): Promise<WorkResponse | undefined>;
  /** Removes a result, so that a redriven request may store another. */
  forget(requestId: string): Promise<void>;
  /**
   * Calls `callback` once with the result: at once if there is one, else when it is stored. Resolves
   * with a function that ends the subscription.
   */
  subscribe(requestId: string, callback: (response: WorkResponse) => void): Promise<() => void>;
  close?(): Promise<void>;
}

/**
 * Messages of at most 4 KiB as JSON, delivered at most once: progress, broadcasts, requests to
 * cancel. No result depends on them.
 */
export interface Topics {
  publish(topic: string, message: unknown): Promise<void>;
  /** Resolves with a function that ends the subscription. */
  subscribe(topic: string, callback: (message: unknown) => void): Promise<() => void>;
  close?(): Promise<void>;
}

/** A shared task or tool, as callers see it. */
export interface SharedCapability {
  readonly name: string;
  readonly type: WorkRequest["type"];
  readonly description: string;
  readonly version?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** JSON Schema of the inputs. Absent: `{ context: string }`. */
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
}

/** The instances that run now. An entry disappears `ttlMs` after its last announcement. */
export interface Catalogue {
  announce(entry: CatalogueEntry, ttlMs: number): Promise<void>;
  withdraw(ensemble: string, instance: string): Promise<void>;
  entries(): Promise<readonly CatalogueEntry[]>;
  close?(): Promise<void>;
}

/** Counts the rate limits and budgets of all processes that use a backend. */
export interface FleetLimits {
  readonly rateWindow: RateWindow;
  readonly budgetAccounts: BudgetAccounts;
}

/** The storage that the instances of services and their callers share. */
export interface NetworkBackend {
  /** The name of the storage, for example `memory`. */
  readonly name: string;
  readonly queue: RequestQueue;
  readonly results: ResultStore;
  readonly topics: Topics;
  readonly catalogue: Catalogue;
  /** Absent: limits and budgets are counted within each process. */
  readonly limits?: FleetLimits | undefined;
  /** Removes the secrets of this backend from a text. Services and callers apply it to traces and logs. */
  redact?(text: string): string;
  close(): Promise<void>;
}

/** Another ensemble, as a caller uses it. Every call may be repeated. */
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
  /** Answers a review of the remote run. Returns false if it was answered before. */
  decide(requestId: string, reviewId: string, decision: ReviewDecision): Promise<boolean>;
  /** Requests cancellation. Returns false if the request has ended or is unknown. */
  cancel(requestId: string, reason?: string): Promise<boolean>;
  capabilities(): Promise<readonly SharedCapability[]>;
  /** Removes the secrets of this connection from a text. Callers apply it to traces and logs. */
  redact?(text: string): string;
  close(): Promise<void>;
}

/** Sends requests to one ensemble and receives its own. */
export interface Transport extends Remote {
  readonly name: string;
  receive(options: {
    readonly timeoutMs: number;
    readonly leaseMs: number;
    readonly signal?: AbortSignal | undefined;
  }): Promise<Lease | undefined>;
  /** Stores the result, then acknowledges. Returns whether this result is the kept one. */
  deliver(lease: Lease, response: WorkResponse): Promise<boolean>;
}

/** Tokens of services and their callers. */
export const NetworkTokens = Object.freeze({
  /** The backend of services that get none from `start()`. Default: in memory. */
  NetworkBackend: createToken<NetworkBackend>("NetworkBackend"),
});
