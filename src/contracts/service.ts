import type { Authenticate } from "./http-route.js";
import type { Ingress } from "./ingress.js";
import type { CallerQuota, QueueLimits } from "./queue-options.js";
import type { ForeignUsage } from "./usage.js";
import type { WebhookOptions } from "./webhooks.js";
import type { CatalogueEntry, DeadLetter, NetworkBackend, QueueDepth } from "./network.js";

/** A caller over HTTP. */
export interface CallerOptions {
  /** Several while a token is replaced. */
  readonly token: string | readonly string[];
  /** Names of shared tasks and tools. Default: all. */
  readonly may?: readonly string[] | undefined;
  /** Waiting requests of this caller. Default: no limit but that of the service. */
  readonly maxQueued?: number | undefined;
  /** Default: `quota` of `start()`. */
  readonly quota?: CallerQuota | undefined;
}

/** Options of `Ensemble.start()`. */
export interface StartOptions {
  /** Default: the binding of `NetworkTokens.NetworkBackend`, else in memory. */
  readonly backend?: NetworkBackend | undefined;
  /** Whether the whole ensemble is shared as `run`. Default: `shareRun` of the ensemble. */
  readonly shareRun?: boolean | undefined;
  /** The port of the HTTP listener. 0 selects a free port. Default: no listener. */
  readonly port?: number | undefined;
  /** Whether the processes of one `node:cluster` share the port. They need a backend for several processes. Default false. */
  readonly sharesPort?: boolean | undefined;
  /** Default `127.0.0.1`. An address that other machines reach requires `callers`. */
  readonly host?: string | undefined;
  /** Tokens by the name of the caller. Default: no token is required. */
  readonly callers?: Readonly<Record<string, string | CallerOptions>> | undefined;
  /**
   * Authenticates requests instead of `callers`. An operator may also drain the service, and read
   * and redrive dead letters. Default: `callers`; without them every request from this machine has
   * the role `operator`.
   */
  readonly authenticate?: Authenticate | undefined;
  /**
   * What each caller over HTTP may use, or a function of its name. Counted by the backend for all
   * instances; by each process where the backend counts nothing. Default: no limits.
   */
  readonly quota?: CallerQuota | ((caller: string) => CallerQuota | undefined) | undefined;
  /** Further names of this host. Required for `0.0.0.0` and `::`. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** The public address of the service, for example behind a proxy. */
  readonly publicUrl?: string | undefined;
  /** Whether all clients may read the agent card and the OpenAPI document (`public`), or callers only. Default `public`. */
  readonly card?: "public" | "private" | undefined;
  /** Sources of further requests, for example `webhook()` of `agentensemble/network`. */
  readonly ingress?: readonly Ingress[] | undefined;
  /** Settings for requests with the delivery `WEBHOOK`. Default: such requests are refused. */
  readonly webhooks?: WebhookOptions | undefined;
  /** Limits of requests in execution. Default: `maxConcurrentRequests` of the ensemble, in each process. */
  readonly queue?: QueueLimits | undefined;
  /** Milliseconds after which a request without renewal is delivered again. Default 30,000. */
  readonly leaseMs?: number | undefined;
  /** Deliveries of a request before it becomes a dead letter. Default 5. */
  readonly maxAttempts?: number | undefined;
  /** Time for which request ids and results are kept, in milliseconds. Default 86,400,000. */
  readonly resultTtlMs?: number | undefined;
  /** Maximum size of a request in bytes. Default 1 MiB. Results are truncated at 16 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Whether SIGTERM and SIGINT stop the service. Default true. */
  readonly signals?: boolean | undefined;
  /** The name of this instance. Default: generated. */
  readonly instance?: string | undefined;
  readonly listeners?: readonly ((event: ServiceEvent) => void)[] | undefined;
}

export type ServiceState = "NEW" | "STARTING" | "READY" | "DRAINING" | "STOPPED";

interface ServiceEventBase {
  readonly v: 1;
  /** Counts the events of the service from 1. */
  readonly seq: number;
  /** An ISO instant. */
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
/** An event of a service. The events of its runs are separate, with the request's id as `runId`. */
export type ServiceEvent = ServiceEventBase &
  (
    | { readonly type: "service_state"; readonly state: ServiceState }
    | (OfRequest & { readonly type: "request_started"; readonly waitedMs: number })
    | (OfRequest & {
        readonly type: "request_finished";
        readonly status: "COMPLETED" | "FAILED" | "REJECTED" | "CANCELLED";
        readonly reason?: string | undefined;
        readonly durationMs: number;
        /** The usage of the execution, one entry for each model. Absent without any. */
        readonly usage?: readonly ForeignUsage[] | undefined;
        /** False if another delivery had stored its result before. */
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

/** Which events a listener gets. */
export interface ServiceEventFilter {
  /** Default: all. */
  readonly only?: readonly ServiceEvent["type"][] | undefined;
}

/** A request in execution. */
export interface ActiveRequest {
  readonly requestId: string;
  readonly runId: string;
  readonly task: string;
  readonly from: string;
  readonly attempt: number;
  /** An ISO instant. */
  readonly startedAt: string;
}

/** A schedule of a service. */
export interface ServiceSchedule {
  readonly name: string;
  /** The shared task that it requests. */
  readonly task: string;
  /** For people: the cron expression with its time zone, or the interval. */
  readonly times: string;
  /** The next time, as an ISO instant. Absent where there is none. */
  readonly next?: string | undefined;
}

/** A started ensemble. */
export interface Service {
  readonly name: string;
  readonly instance: string;
  readonly state: ServiceState;
  /** The HTTP address; `undefined` without a listener. */
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
  /** Queues a dead letter again and forgets its result. Returns false if there is none. */
  redrive(requestId: string): Promise<boolean>;
  /**
   * Calls `fn` with each event, or with those of the types in `only`. Returns a function that ends this. Warnings that no listener gets are process warnings.
   * @throws ValidationError for an unknown option.
   */
  on(fn: (event: ServiceEvent) => void, options?: ServiceEventFilter): () => void;
  /** Ends what runs within `drainTimeoutMs`, returns the rest to the queue, and stops. Idempotent. */
  stop(options?: { readonly drainTimeoutMs?: number | undefined }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
