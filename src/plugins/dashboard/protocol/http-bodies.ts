import type { StoredReview } from "../../../contracts/review.js";
import type { LogEntry, RunSummary, RunSums } from "../../../contracts/run-store.js";
import type { AnsweredReview, BoardUser } from "./messages.js";
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
  /** Open sockets. */
  readonly clients: number;
  /** Runs in memory. */
  readonly runs: number;
}

/** `GET /api/status`. `board`: the same in the place where a service has it. */
export interface StatusBody extends BoardStatus {
  readonly status: "UP" | "DRAINING";
  readonly user: BoardUser;
  readonly board: BoardStatus;
}

/** `GET /api/runs`. */
export interface RunListBody {
  readonly runs: readonly RunSummary[];
  /** All that fit the query. */
  readonly total: number;
  /** The `before` of the next page. */
  readonly next?: string | undefined;
  /** Of all runs that fit the query. */
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

/** `GET /api/runs/{id}/bars`: one row per task with the id of the task and its bars, flat. An open bar ends with null. */
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
