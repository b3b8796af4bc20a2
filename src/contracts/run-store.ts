import type { Awaitable, Inputs } from "./types.js";

/** The state of a task of a run. `waiting`: it waits for a review. */
export type WorkState = "idle" | "running" | "waiting" | "done" | "failed" | "stopped";

/** One line of a run's log: an event with its number. It is JSON. */
export interface LogEntry {
  /** Counts the entries of a run from 0 without a gap; the cursor of every reader. */
  readonly n: number;
  /** The time of the event, as an ISO instant. */
  readonly at: string;
  /** The type of the event. */
  readonly type: string;
  /** The task of the event, if it belongs to one. */
  readonly taskId?: string | undefined;
  /** The fields of the event as JSON: an error is `{ name, message, code }`. */
  readonly [field: string]: unknown;
}

/** A run in a list of runs. */
export interface RunSummary {
  readonly runId: string;
  /** The name of the ensemble; empty if it has no name. */
  readonly ensemble: string;
  readonly workflow: string;
  /** `interrupted`: its process ended before the run did. */
  readonly state: Exclude<WorkState, "idle"> | "interrupted";
  /** Absent until the run has ended. */
  readonly exitReason?: string | undefined;
  readonly startedAt: string;
  readonly endedAt?: string | undefined;
  /** The number of the last entry of the log; -1 for an empty log. */
  readonly n: number;
  readonly inputs: Inputs;
  readonly tags: Readonly<Record<string, string>>;
  readonly error?:
    | { readonly code: string; readonly message: string; readonly taskId?: string | undefined }
    | undefined;
  /** Tasks by state. */
  readonly counts: Readonly<Record<WorkState, number>>;
  readonly totals: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** Model calls without reported usage. */
    readonly unknownCalls: number;
    readonly cost: number;
    readonly currency?: string | undefined;
    /** Model calls. */
    readonly calls: number;
    /** Tool calls. */
    readonly tools: number;
  };
  /** Whether later runs of the ensemble are compared with it. */
  readonly baseline?: boolean | undefined;
  /** The process that reported the run, if it is not the process of the dashboard. */
  readonly process?: string | undefined;
  /** Whether that process is not connected now. */
  readonly isAway?: boolean | undefined;
}

/** A filter of a list of runs. A run must match all fields. Newest first. */
export type RunQuery = {
  /**
   * `from` and `to`: ISO instants of the start. `text`: anywhere in what a summary shows. `before`: the `next` of the page before.
   */
  readonly [K in "state" | "ensemble" | "text" | "from" | "to" | "before"]?: string | undefined;
} & {
  /** `true`: only runs that are baselines. */
  readonly baseline?: boolean | undefined;
  /** All tags must be equal. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Default 50. */
  readonly limit?: number | undefined;
};

/** Sums over all runs that match a query, on all pages. */
export interface RunSums {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Model calls without reported usage. */
  readonly unknownCalls: number;
  /** Model calls. */
  readonly calls: number;
  /** Tool calls. */
  readonly tools: number;
  /** Cost by currency. A currency without cost is absent. */
  readonly cost: Readonly<Record<string, number>>;
  /** Number of runs by state. A state without runs is absent. */
  readonly states: Readonly<Partial<Record<RunSummary["state"], number>>>;
}

/** An action of a user of the dashboard. */
export type AuditAction =
  | "start"
  | "again"
  | "replay"
  | "cancel"
  | "resume"
  | "fork"
  | "settle"
  | "redrive"
  | "review"
  | "remove"
  | "baseline"
  | "export"
  | "report"
  | "sign-in-failed";

/** A record of an action, or of an attempted action, on the dashboard. */
export interface AuditEntry {
  /** An ISO instant. */
  readonly at: string;
  /** The name of the user; the address of an unknown client. */
  readonly user: string;
  /**
   * `export`: a file was downloaded. `baseline`: a run became the baseline of its ensemble, or
   * ceased to be it. `report`: a process began to report its runs, or was refused. `sign-in-failed`: a wrong token, or none that the program knows.
   */
  readonly action: AuditAction;
  /** The id of the run or the review; the path of a request that was refused. */
  readonly subject: string;
  /** The decision, the reason, the kind of file. */
  readonly detail?: string | undefined;
}

/** A page of entries, newest first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** The `before` of the next page. */
  readonly next?: string | undefined;
}

/** Stores the logs and summaries of runs. All texts that it receives are redacted. */
export interface RunStore {
  /** Adds entries to the end of a log, in order. */
  append(runId: string, entries: readonly LogEntry[]): Awaitable<void>;
  /** Writes a summary over the one before. */
  put(summary: RunSummary): Awaitable<void>;
  /** One page; `total` counts all that fit. */
  list(query: RunQuery): Awaitable<{
    readonly runs: readonly RunSummary[];
    readonly total: number;
    readonly next?: string | undefined;
    /** Absent in a store that does not add up. */
    readonly sums?: RunSums | undefined;
  }>;
  /** `undefined` for a run that is not known. */
  get(runId: string): Awaitable<RunSummary | undefined>;
  /** At most `limit` entries behind number `after`; -1 begins with the first. Empty where there are none. */
  read(runId: string, after: number, limit: number): Awaitable<readonly LogEntry[]>;
  /** Removes a run with its entries and its trace. */
  remove(runId: string): Awaitable<void>;
  /** Keeps the trace of a run, as JSON, over the one before. Without it the store keeps no traces. */
  putTrace?(runId: string, trace: string): Awaitable<void>;
  /** The trace of a run, as JSON; `undefined` where there is none. */
  trace?(runId: string): Awaitable<string | undefined>;
  /** Keeps what a person did. Without both methods such entries are in memory only. */
  appendAudit?(entry: AuditEntry): Awaitable<void>;
  /** At most `limit` entries, the newest first. `before`: the `next` of the page before. */
  readAudit?(limit: number, before?: string): Awaitable<AuditPage>;
  dispose?(): Awaitable<void>;
}
