import type { StartableEnsemble } from "./control-bodies.js";
import type { BoardUser, EventsFrame, PROTOCOL, ResyncFrame, ReviewsFrame } from "./messages.js";
import type { ConversationInfo } from "./thread-bodies.js";

/** A request that a process executes for a user of the board. */
export interface ProcessRequest {
  /** The user. `owner` is the only owner whose threads the user may read. */
  readonly user: BoardUser & { readonly owner?: string | undefined };
  readonly method: "GET" | "POST";
  /** The path as on a dashboard of that process, with its ids. It may have a query. */
  readonly path: string;
  /** The `Idempotency-Key` of the request. */
  readonly key?: string | undefined;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

/** Process: the first frame. */
export interface ReportFrame {
  readonly type: "report";
  readonly protocol: typeof PROTOCOL;
  /** The name of the process on the board: 1 to 64 letters, digits, `-`, `_` and `.`. */
  readonly process: string;
  /** Generated for each start. A connection with another value does not replace this connection. */
  readonly instance: string;
}

/**
 * Process: its teams and threads that users may start and read. Sent after `reported`, and after
 * each change.
 */
export interface OffersFrame {
  readonly type: "offers";
  readonly ensembles: readonly StartableEnsemble[];
  readonly conversations: readonly ConversationInfo[];
}

/** Process: the result of a request. */
export interface ReportAnswerFrame {
  readonly type: "answer";
  readonly id: number;
  readonly status: number;
  /** The body as JSON. */
  readonly body: string;
}

/** Board: the answer to `report`. */
export interface ReportedFrame {
  readonly type: "reported";
  readonly protocol: typeof PROTOCOL;
  /** The number of the last entry of each run that the board received. */
  readonly runs: Readonly<Record<string, number>>;
}

/**
 * Frames of a process. `events` has full entries and pieces of answers. `reviews` has all waiting
 * reviews.
 */
export type ProcessFrame =
  ReportFrame | OffersFrame | ReportAnswerFrame | EventsFrame | ReviewsFrame;

/**
 * Frames of the board to a process. `resync`: the board has no entries after `n`. `watch`: tasks
 * whose streamed text the board requests.
 */
export type BoardFrame =
  | ReportedFrame
  | ResyncFrame
  | { readonly type: "watch"; readonly runId: string; readonly tasks: readonly string[] }
  | (ProcessRequest & { readonly type: "request"; readonly id: number });

/**
 * The requests that the board passes to the process of a run, a review, an ensemble or a
 * conversation.
 */
export const PASSED_ON: ReadonlySet<string> = new Set([
  "GET /api/runs/{runId}/actions",
  "GET /api/runs/{runId}/trace",
  "POST /api/runs/{runId}/cancel",
  "POST /api/runs/{runId}/resume",
  "POST /api/runs/{runId}/fork",
  "POST /api/runs/{runId}/settle",
  "POST /api/runs/{runId}/again",
  "POST /api/reviews/{reviewId}",
  "POST /api/runs",
  "GET /api/ensembles/{name}",
  "POST /api/ensembles/{name}/explain",
  "GET /api/panels",
  "GET /api/panels/{name}",
  "GET /api/conversations/{name}/threads",
  "GET /api/conversations/{name}/threads/{threadId}",
]);
