import type { PrincipalRole } from "../../../contracts/http-route.js";
import type { ReviewDecision, StoredReview } from "../../../contracts/review.js";
import type { LogEntry, RunSummary } from "../../../contracts/run-store.js";

/** The version of the protocol. Fields and types that one side does not know are ignored. */
export const PROTOCOL = 1;
/** The WebSocket subprotocol of {@link PROTOCOL}. */
export const SUBPROTOCOL = "agentensemble.v1";

/** The person behind a connection. */
export interface BoardUser {
  readonly name: string;
  readonly role: PrincipalRole;
  /** Roles whose reviews the person may answer; `"*"` stands for all. Default: none. */
  readonly reviewRoles?: readonly string[] | undefined;
}

/** A review that has an answer, or whose time is up. */
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

/** Server: the first frame. `epoch` names this start of the server; numbers of entries count only together with it. */
export interface HelloFrame {
  readonly type: "hello";
  readonly protocol: typeof PROTOCOL;
  readonly epoch: string;
  readonly serverTimeMs: number;
  readonly user: BoardUser;
  /** The last 100, newest first. */
  readonly runs: readonly RunSummary[];
  readonly reviews: readonly StoredReview[];
  readonly answered: readonly AnsweredReview[];
  /** The number of conversations whose threads can be read. */
  readonly conversations: number;
  /** The number of services of the program. */
  readonly services: number;
}

/** Server: entries of a run behind the last ones sent, without a gap, up to and including number `to`. */
export interface EventsFrame {
  readonly type: "events";
  readonly runId: string;
  readonly to: number;
  /** Slim entries; full ones for watched tasks. */
  readonly events: readonly LogEntry[];
}

/** Server: the entries asked for are not there; fetch `/api/runs/{id}` and subscribe behind the `n` of its snapshot. */
export interface ResyncFrame {
  readonly type: "resync";
  readonly runId: string;
  readonly n: number;
}

/** Server: summaries that changed, and runs that are gone. */
export interface RunsFrame {
  readonly type: "runs";
  readonly upsert: readonly RunSummary[];
  readonly removed: readonly string[];
  /** As in `hello`. */
  readonly conversations: number;
  readonly services: number;
}

/** Server: all reviews that wait, and the last that were answered; after each change. */
export interface ReviewsFrame {
  readonly type: "reviews";
  readonly pending: readonly StoredReview[];
  readonly answered: readonly AnsweredReview[];
}

/** Server: what became of an answer. `by`: who was first. */
export interface ReviewAckFrame {
  readonly type: "review_ack";
  readonly reviewId: string;
  readonly status: "APPLIED" | "RESOLVED" | "EXPIRED" | "NOT_FOUND" | "FORBIDDEN" | "INVALID";
  readonly by?: string | undefined;
  /** Of INVALID: what is wrong with the edit. */
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
  /** The first frame where access is controlled, within 5 s. */
  | { readonly type: "auth"; readonly token: string }
  /** Entries behind number `after` (default -1), where it is of this epoch. */
  | {
      readonly type: "subscribe";
      readonly runId: string;
      readonly after?: number | undefined;
      readonly epoch?: string | undefined;
    }
  /** Full entries and tokens of these tasks; at most 8. */
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
