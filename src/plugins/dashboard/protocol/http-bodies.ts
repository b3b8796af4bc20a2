import type { StoredReview } from "../../../contracts/review.js";
import type { LogEntry, RunSummary, RunSums } from "../../../contracts/run-store.js";
import type { AnsweredReview, BoardUser } from "./messages.js";
import type { RunComparison } from "./compare.js";
import type { BarKind, RunSnapshot } from "./state-types.js";

/** Answer of every request that fails. `error` is a stable word in capitals. */
export interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly [field: string]: unknown;
}

/** The dashboard's part of a status. */
export interface BoardStatus {
  readonly protocol: number;
  readonly epoch: string;
  /** Number of open sockets. */
  readonly clients: number;
  /** Number of runs in memory. */
  readonly runs: number;
}

/** `GET /api/status`. `board` has the same data in the status of a service. */
export interface StatusBody extends BoardStatus {
  readonly status: "UP" | "DRAINING";
  readonly user: BoardUser;
  readonly board: BoardStatus;
}

/** `GET /api/runs`. In `runs`, `baseline: true` marks the baseline of an ensemble. */
export interface RunListBody {
  readonly runs: readonly RunSummary[];
  /** Number of runs that match the query. */
  readonly total: number;
  /** The `before` of the next page. */
  readonly next?: string | undefined;
  /** Sums over all runs that match the query. */
  readonly sums?: RunSums | undefined;
}

/** `GET /api/runs/{id}`. */
export interface RunBody {
  readonly summary: RunSummary;
  readonly snapshot: RunSnapshot;
  readonly epoch: string;
}

/** `GET /api/runs/{id}/log` and `/tasks/{taskId}`. */
export interface EntriesBody {
  readonly entries: readonly LogEntry[];
  /** The `after` of the next page. */
  readonly next?: number | undefined;
}

/**
 * `GET /api/runs/{id}/bars`. One row per task with the id of the task and its bars, flat. An open
 * bar ends with null.
 */
export interface BarsBody {
  readonly rows: readonly {
    readonly taskId: string;
    readonly bars: readonly (BarKind | number | null)[];
  }[];
}

/** `GET /api/reviews`. */
export interface ReviewListBody {
  readonly reviews: readonly (StoredReview | AnsweredReview)[];
  readonly total: number;
}

/** `POST /api/reviews/{id}`. */
export interface ReviewDecisionBody {
  readonly decision: "approve" | "continue" | "edit" | "exit_early";
  readonly revisedOutput?: string | undefined;
  readonly comment?: string | undefined;
}

/** Answer of `POST /api/reviews/{id}` with 200. */
export interface ReviewAppliedBody {
  readonly reviewId: string;
  readonly decision: string;
  readonly status: "APPLIED";
  readonly by: string;
}

/** `GET /api/compare?a=&b=`. */
export type CompareBody = RunComparison;

/** `GET /api/runs/{id}/baseline`: the run compared with the baseline of its ensemble. */
export interface RunBaselineBody {
  /** Absent if the ensemble has no baseline. */
  readonly baseline?: RunSummary | undefined;
  /** Number of tasks by their change since the baseline. Absent for the baseline itself. */
  readonly counts?: RunComparison["counts"] | undefined;
}

/** The kind of text in which a search matched. */
export type SearchPlace =
  | "name"
  | "task"
  | "system-prompt"
  | "user-prompt"
  | "answer"
  | "reasoning"
  | "arguments"
  | "result"
  | "output"
  | "review"
  | "error";

/** A match of a search. */
export interface SearchHit {
  readonly runId: string;
  /** Absent for an entry without a task. */
  readonly taskId?: string | undefined;
  /** The number of the entry. */
  readonly n: number;
  readonly where: SearchPlace;
  /** The text around the match, on one line. */
  readonly excerpt: string;
  /** The position in `excerpt`: characters from `from` up to, but not including, `to`. */
  readonly from: number;
  readonly to: number;
}

/** `GET /api/search?q=&run=`. Without `run`, the conditions of `GET /api/runs` apply. */
export interface SearchBody {
  /**
   * At most 200 hits, in the order of the log, one per text. A search of several runs has at most
   * five hits per run.
   */
  readonly hits: readonly SearchHit[];
  /** Whether there are more matches. */
  readonly more: boolean;
}

/** The forms of `GET /api/runs/{id}/export?as=`. */
export type ExportForm = "log" | "csv" | "mermaid" | "markdown";

/** An action that a user may take on a run in its current state. */
export type RunAction =
  "cancel" | "again" | "replay" | "resume" | "fork" | "settle" | "baseline" | "remove" | "export";

/** A tool call of a durable run that may or may not have taken place. */
export interface DoubtfulCall {
  /** Identifies the call in `POST /api/runs/{id}/settle`. */
  readonly key: string;
  /** The name or id of its task, with the attempt: `publish@1`. */
  readonly task: string;
  readonly toolName: string;
  /** When the call began, as an ISO instant. */
  readonly at: string;
}

/** `GET /api/runs/{id}/actions`. */
export interface RunActionsBody {
  readonly runId: string;
  /** The actions that the role of the user and the state of the run allow. */
  readonly actions: readonly RunAction[];
  /**
   * Possible sources of answers for a replay: the trace of this run, or the recording of its
   * ensemble.
   */
  readonly answers: readonly ("trace" | "recording")[];
  /** The state of a run that a journal keeps. */
  readonly kept?:
    | {
        readonly status: string;
        readonly executions: number;
        readonly finishedTasks: number;
        readonly waitsFor?: string | undefined;
      }
    | undefined;
  /** Tool calls in doubt. Empty if no journal keeps the run. */
  readonly doubts: readonly DoubtfulCall[];
}
