import type { PrincipalRole } from "../../../contracts/http-route.js";
import type { ReviewDecision, StoredReview } from "../../../contracts/review.js";
import type { LogEntry, RunSummary } from "../../../contracts/run-store.js";

/** The version of the protocol. Both sides ignore unknown fields and types. */
export const PROTOCOL = 1;
/** The WebSocket subprotocol of {@link PROTOCOL}. */
export const SUBPROTOCOL = "agentensemble.v1";

/** The user of a connection. */
export interface BoardUser {
  readonly name: string;
  readonly role: PrincipalRole;
  /** Roles whose reviews the user may answer. `"*"` stands for all. Default: none. */
  readonly reviewRoles?: readonly string[] | undefined;
}

/** A review that has an answer, or whose time has expired. */
export interface AnsweredReview {
  readonly reviewId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly decision: ReviewDecision["type"] | "FAIL";
  readonly timedOut: boolean;
  readonly by?: string | undefined;
  readonly comment?: string | undefined;
  /** An ISO instant. */
  readonly at: string;
}

/**
 * Server: the first frame. `epoch` identifies this start of the server. Entry numbers are valid
 * only together with it.
 */
export interface HelloFrame {
  readonly type: "hello";
  readonly protocol: typeof PROTOCOL;
  readonly epoch: string;
  readonly serverTimeMs: number;
  readonly user: BoardUser;
  /** The last 100 runs, newest first. */
  readonly runs: readonly RunSummary[];
  readonly reviews: readonly StoredReview[];
  readonly answered: readonly AnsweredReview[];
  /** The number of conversations whose threads can be read. */
  readonly conversations: number;
  /** The number of services of the program. */
  readonly services: number;
}

/** Server: the next entries of a run, without a gap, up to and including number `to`. */
export interface EventsFrame {
  readonly type: "events";
  readonly runId: string;
  readonly to: number;
  /** Slim entries. For watched tasks, full entries. */
  readonly events: readonly LogEntry[];
}

/**
 * Server: the requested entries are not available. The client must fetch `/api/runs/{id}` and
 * subscribe after the `n` of its snapshot.
 */
export interface ResyncFrame {
  readonly type: "resync";
  readonly runId: string;
  readonly n: number;
}

/** Server: changed summaries, and removed runs. */
export interface RunsFrame {
  readonly type: "runs";
  readonly upsert: readonly RunSummary[];
  readonly removed: readonly string[];
  /** The same number as in `hello`. */
  readonly conversations: number;
  readonly services: number;
}

/** Server: all waiting reviews, and the last answered reviews. Sent after each change. */
export interface ReviewsFrame {
  readonly type: "reviews";
  readonly pending: readonly StoredReview[];
  readonly answered: readonly AnsweredReview[];
}

/** Server: the result of an answer. `by` is the user who answered first. */
export interface ReviewAckFrame {
  readonly type: "review_ack";
  readonly reviewId: string;
  readonly status: "APPLIED" | "RESOLVED" | "EXPIRED" | "NOT_FOUND" | "FORBIDDEN" | "INVALID";
  readonly by?: string | undefined;
  /** The problem of the edit. Set for INVALID. */
  readonly message?: string | undefined;
}

export type ServerFrame =
  | HelloFrame
  | EventsFrame
  | ResyncFrame
  | RunsFrame
  | ReviewsFrame
  | ReviewAckFrame
  | { readonly type: "heartbeat"; readonly serverTimeMs: number }
  | { readonly type: "pong" }
  | { readonly type: "closing"; readonly reason: string };

export type ClientFrame =
  /** With access control, the first frame, within 5 s. */
  | { readonly type: "auth"; readonly token: string }
  /** Requests the entries after number `after` (default -1), if it belongs to this epoch. */
  | {
      readonly type: "subscribe";
      readonly runId: string;
      readonly after?: number | undefined;
      readonly epoch?: string | undefined;
    }
  /** Requests full entries and tokens of these tasks. At most 8. */
  | { readonly type: "watch"; readonly runId: string; readonly tasks: readonly string[] }
  | { readonly type: "unsubscribe"; readonly runId: string }
  | {
      readonly type: "review_decision";
      readonly reviewId: string;
      readonly decision: "approve" | "continue" | "edit" | "exit_early";
      readonly revisedOutput?: string | undefined;
      readonly comment?: string | undefined;
    }
  | { readonly type: "ping" };
