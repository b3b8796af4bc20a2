import type { Authenticate } from "./http-route.js";
import type { Ingress } from "./ingress.js";
import type { CallerQuota, QueueLimits } from "./queue-options.js";
import type { ForeignUsage } from "./usage.js";
import type { WebhookOptions } from "./webhooks.js";
import type { CatalogueEntry, DeadLetter, NetworkBackend, QueueDepth } from "./network.js";

/** Options of a caller over HTTP. */
export interface CallerOptions {
  /** The caller's token. Pass several tokens while one replaces another. */
  readonly token: string | readonly string[];
  /** Names of the shared tasks and tools that the caller may call. Default: all. */
  readonly may?: readonly string[] | undefined;
  /**
   * Maximum number of this caller's requests without a result. Each instance counts the requests
   * that it received. Default: only the limit of the service applies.
   */
  readonly maxQueued?: number | undefined;
  /** The quota of this caller. Default: `quota` of `start()`. */
  readonly quota?: CallerQuota | undefined;
}

/** Options of `Ensemble.start()`. */
export interface StartOptions {
  /**
   * The storage shared by all instances. Default: the binding of `NetworkTokens.NetworkBackend`,
   * else a backend in memory.
   */
  readonly backend?: NetworkBackend | undefined;
  /**
   * Whether other programs may request a run of the whole ensemble, as `run`. Default: `shareRun`
   * of the ensemble.
   */
  readonly shareRun?: boolean | undefined;
  /** The port of the HTTP listener. 0 selects a free port. Default: no listener. */
  readonly port?: number | undefined;
  /**
   * Whether the processes of one `node:cluster` share the port. Requires a backend for several
   * processes. Default false.
   */
  readonly sharesPort?: boolean | undefined;
  /**
   * The address to listen on. An address that other machines can reach requires `callers` or
   * `authenticate`. Default `127.0.0.1`.
   */
  readonly host?: string | undefined;
  /**
   * The callers by name, each with a token or options. Default: only this machine may send
   * requests, without a token.
   */
  readonly callers?: Readonly<Record<string, string | CallerOptions>> | undefined;
  /**
   * Authenticates requests in place of `callers`, and can't be combined with it. An operator may
   * also drain the service, and read and redrive dead letters. Default: none. Without `callers`,
   * every request from this machine then has the role `operator`.
   */
  readonly authenticate?: Authenticate | undefined;
  /**
   * The quota of each caller over HTTP, or a function that returns the quota for the name of a
   * caller. Counted over all instances if the backend counts quotas, else separately in each
   * process. Default: no limit.
   */
  readonly quota?: CallerQuota | ((caller: string) => CallerQuota | undefined) | undefined;
  /**
   * Further host names of this machine, accepted in the Host header. Required for `0.0.0.0` and
   * `::`. Default: none.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * The public URL of the service, for example the URL of a proxy. Default: the URL of the
   * listener.
   */
  readonly publicUrl?: string | undefined;
  /**
   * `public`: every client may read the agent card and the OpenAPI document. `private`: only
   * callers may read them. Default `public`.
   */
  readonly card?: "public" | "private" | undefined;
  /**
   * Further sources of requests, for example `webhook()` of `agentensemble/network`. Default: none.
   */
  readonly ingress?: readonly Ingress[] | undefined;
  /**
   * Settings of webhooks, for requests with the delivery `WEBHOOK` and for push notifications over
   * A2A. Default: both are refused.
   */
  readonly webhooks?: WebhookOptions | undefined;
  /**
   * Limits of concurrent executions. Default: `maxConcurrentRequests` of the ensemble, in each
   * process.
   */
  readonly queue?: QueueLimits | undefined;
  /**
   * Lease of a delivery in milliseconds. If the lease is not renewed within this time, the request is
   * delivered again. Default 30,000.
   */
  readonly leaseMs?: number | undefined;
  /** Number of deliveries of a request before it becomes a dead letter. Default 5. */
  readonly maxAttempts?: number | undefined;
  /**
   * Time in milliseconds for which request ids and results are kept. Default 86,400,000 (one day).
   */
  readonly resultTtlMs?: number | undefined;
  /** Maximum size of a request in bytes. Default 1 MiB. Results are truncated at 16 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Whether SIGTERM and SIGINT stop the service. Default true. */
  readonly signals?: boolean | undefined;
  /** The name of this instance. Default: a generated name. */
  readonly instance?: string | undefined;
  readonly listeners?: readonly ((event: ServiceEvent) => void)[] | undefined;
}

export type ServiceState = "NEW" | "STARTING" | "READY" | "DRAINING" | "STOPPED";

interface ServiceEventBase {
  readonly v: 1;
  /** The number of the event within the service, from 1. */
  readonly seq: number;
  /** The time of the event as an ISO instant. */
  readonly at: string;
  readonly ensemble: string;
  readonly instance: string;
}
interface OfRequest {
  readonly requestId: string;
  /** The name of the shared task or tool. */
  readonly task: string;
  readonly from: string;
  readonly attempt: number;
}
/**
 * An event of a service. Events of the executed runs are separate. Their `runId` is the id of the
 * request.
 */
export type ServiceEvent = ServiceEventBase &
  (
    | { readonly type: "service_state"; readonly state: ServiceState }
    | (OfRequest & { readonly type: "request_started"; readonly waitedMs: number })
    | (OfRequest & {
        readonly type: "request_finished";
        readonly status: "COMPLETED" | "FAILED" | "REJECTED" | "CANCELLED";
        readonly reason?: string | undefined;
        readonly durationMs: number;
        /** The usage of the execution, one entry for each model. Absent if no model was called. */
        readonly usage?: readonly ForeignUsage[] | undefined;
        /**
         * Whether this result was stored. False if another delivery had already stored a result.
         */
        readonly recorded: boolean;
      })
    | (OfRequest & { readonly type: "request_released"; readonly reason: string })
    | (OfRequest & { readonly type: "lease_lost" })
    | (OfRequest & { readonly type: "dead_letter"; readonly reason: string })
    | {
        readonly type: "schedule_fired";
        readonly schedule: string;
        readonly requestId: string;
        readonly planned: string;
      }
    | { readonly type: "service_warning"; readonly message: string }
  );

/** Selects events for a listener. */
export interface ServiceEventFilter {
  /** The types of the delivered events. Default: all. */
  readonly only?: readonly ServiceEvent["type"][] | undefined;
}

/** A request that is being executed. */
export interface ActiveRequest {
  readonly requestId: string;
  readonly runId: string;
  readonly task: string;
  readonly from: string;
  readonly attempt: number;
  /** The start of the execution as an ISO instant. */
  readonly startedAt: string;
}

/** A schedule of a service. */
export interface ServiceSchedule {
  readonly name: string;
  /** The name of the shared task that the schedule requests. */
  readonly task: string;
  /**
   * A description of the times for people: the cron expression with its time zone, or the interval.
   */
  readonly times: string;
  /** The next time as an ISO instant. Absent if there is no next time. */
  readonly next?: string | undefined;
}

/** A started ensemble. */
export interface Service {
  readonly name: string;
  readonly instance: string;
  readonly state: ServiceState;
  /** The HTTP address. `undefined` if the service has no listener. */
  readonly url: string | undefined;
  readonly backend: NetworkBackend;
  /** Resolves when the service has stopped. */
  readonly closed: Promise<void>;
  stats(): Promise<{ readonly running: number; readonly depth: QueueDepth }>;
  requests(): readonly ActiveRequest[];
  entry(): CatalogueEntry;
  schedules(): readonly ServiceSchedule[];
  /** Requests cancellation. Returns false if the request has ended or is unknown. */
  cancel(requestId: string, reason?: string): Promise<boolean>;
  deadLetters(): Promise<readonly DeadLetter[]>;
  /**
   * Returns a dead letter to the queue. Removes its result, unless only the delivery to a webhook
   * failed. Returns false for an unknown id.
   */
  redrive(requestId: string): Promise<boolean>;
  /**
   * Calls `fn` with each event, or with events of the types in `only`. Returns a function that ends
   * the subscription. A warning without a listener becomes a process warning.
   * @throws ValidationError for an unknown option.
   */
  on(fn: (event: ServiceEvent) => void, options?: ServiceEventFilter): () => void;
  /**
   * Stops the service. Executions may finish within `drainTimeoutMs`. Unfinished requests return to
   * the queue. A further call with a shorter `drainTimeoutMs` shortens the wait.
   */
  stop(options?: { readonly drainTimeoutMs?: number | undefined }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
