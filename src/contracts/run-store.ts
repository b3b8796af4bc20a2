import type { Awaitable, Inputs } from "./types.js";

/** The state of a task of a run. `waiting`: the task waits for a review. */
export type WorkState = "idle" | "running" | "waiting" | "done" | "failed" | "stopped";

/** One entry of a run's log: an event with its number. JSON data. */
export interface LogEntry {
  /**
   * The number of the entry within its run, from 0 without gaps. Readers use it as their cursor.
   */
  readonly n: number;
  /** The time of the event, as an ISO instant. */
  readonly at: string;
  /** The type of the event. */
  readonly type: string;
  /** The id of the task of the event. Absent for events of the run. */
  readonly taskId?: string | undefined;
  /** The fields of the event as JSON. An error is `{ name, message, code }`. */
  readonly [field: string]: unknown;
}

/** A run in a list of runs. */
export interface RunSummary {
  readonly runId: string;
  /** The name of the ensemble. Empty if the ensemble has no name. */
  readonly ensemble: string;
  readonly workflow: string;
  /** `interrupted`: the process ended during the run. */
  readonly state: Exclude<WorkState, "idle"> | "interrupted";
  /** The exit reason. Absent until the run has ended. */
  readonly exitReason?: string | undefined;
  readonly startedAt: string;
  readonly endedAt?: string | undefined;
  /** The number of the last entry of the log. -1 for an empty log. */
  readonly n: number;
  readonly inputs: Inputs;
  readonly tags: Readonly<Record<string, string>>;
  readonly error?:
    | { readonly code: string; readonly message: string; readonly taskId?: string | undefined }
    | undefined;
  /** Numbers of tasks by state. */
  readonly counts: Readonly<Record<WorkState, number>>;
  readonly totals: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    /** Number of model calls without reported usage. */
    readonly unknownCalls: number;
    readonly cost: number;
    readonly currency?: string | undefined;
    /** Number of model calls. */
    readonly calls: number;
    /** Number of tool calls. */
    readonly tools: number;
  };
  /** Whether this run is the baseline with which later runs of the ensemble are compared. */
  readonly baseline?: boolean | undefined;
  /** The process that reported the run, if it is not the process of the dashboard. */
  readonly process?: string | undefined;
  /** Whether the reporting process is currently disconnected. */
  readonly isAway?: boolean | undefined;
}

/** A filter of a list of runs, newest first. A run must match all fields. */
export type RunQuery = {
  /**
   * `from` and `to`: ISO instants that limit the start. `text`: a text that the summary contains.
   * `before`: the `next` of the previous page.
   */
  readonly [K in "state" | "ensemble" | "text" | "from" | "to" | "before"]?: string | undefined;
} & {
  /** `true`: only runs that are baselines. */
  readonly baseline?: boolean | undefined;
  /** All tags must be equal. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Limit of runs per page. Default 50. */
  readonly limit?: number | undefined;
};

/** Sums over all runs that match a query, on all pages. */
export interface RunSums {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Number of model calls without reported usage. */
  readonly unknownCalls: number;
  /** Number of model calls. */
  readonly calls: number;
  /** Number of tool calls. */
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
  /** The time as an ISO instant. */
  readonly at: string;
  /** The name of the user. For an unknown client, its address. */
  readonly user: string;
  /**
   * `export`: a file was downloaded. `baseline`: a run was set or unset as the baseline of its
   * ensemble. `report`: a process began to report its runs, or was refused. `sign-in-failed`: a
   * client sent no token or an unknown token.
   */
  readonly action: AuditAction;
  /** The id of the run or the review. For a refused request, its path. */
  readonly subject: string;
  /** The decision, the reason, or the kind of file. */
  readonly detail?: string | undefined;
}

/** A page of audit entries, newest first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** The `before` of the next page. */
  readonly next?: string | undefined;
}

/** Stores the logs and summaries of runs. All texts passed to a store are redacted. */
export interface RunStore {
  /** Adds entries to the end of a log, in order. */
  append(runId: string, entries: readonly LogEntry[]): Awaitable<void>;
  /** Stores a summary and replaces the previous summary of the run. */
  put(summary: RunSummary): Awaitable<void>;
  /** Returns one page of the runs that match the query. `total` counts the runs on all pages. */
  list(query: RunQuery): Awaitable<{
    readonly runs: readonly RunSummary[];
    readonly total: number;
    readonly next?: string | undefined;
    /** Sums over all matching runs. Absent if the store does not compute them. */
    readonly sums?: RunSums | undefined;
  }>;
  /** Returns the summary of a run. Returns `undefined` for an unknown run. */
  get(runId: string): Awaitable<RunSummary | undefined>;
  /**
   * Returns at most `limit` entries after number `after`. -1 begins with the first entry. Returns
   * an empty list if there are no such entries.
   */
  read(runId: string, after: number, limit: number): Awaitable<readonly LogEntry[]>;
  /** Removes a run with its entries and its trace. */
  remove(runId: string): Awaitable<void>;
  /**
   * Stores the trace of a run as JSON and replaces the previous trace. Absent: the store keeps no
   * traces.
   */
  putTrace?(runId: string, trace: string): Awaitable<void>;
  /** Returns the trace of a run as JSON. Returns `undefined` if there is no trace. */
  trace?(runId: string): Awaitable<string | undefined>;
  /**
   * Stores an audit entry. Without this method and `readAudit`, audit entries are kept in memory
   * only.
   */
  appendAudit?(entry: AuditEntry): Awaitable<void>;
  /**
   * Returns at most `limit` audit entries, newest first. `before`: the `next` of the previous page.
   */
  readAudit?(limit: number, before?: string): Awaitable<AuditPage>;
  dispose?(): Awaitable<void>;
}
