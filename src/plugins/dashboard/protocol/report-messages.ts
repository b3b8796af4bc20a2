import type { StartableEnsemble } from "./control-bodies.js";
import type { BoardUser, EventsFrame, PROTOCOL, ResyncFrame, ReviewsFrame } from "./messages.js";
import type { ConversationInfo } from "./thread-bodies.js";

/** A request that a process carries out for a person on the board. */
export interface ProcessRequest {
  /** `owner`: the only one whose threads the person may see. */
  readonly user: BoardUser & { readonly owner?: string | undefined };
  readonly method: "GET" | "POST";
  /** As on a dashboard of that process, with its ids; may have a query. */
  readonly path: string;
  /** The `Idempotency-Key` of the request. */
  readonly key?: string | undefined;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

/** Process: the first frame. */
export interface ReportFrame {
  readonly type: "report";
  readonly protocol: typeof PROTOCOL;
  /** 1 to 64 letters, digits, `-`, `_` and `.`: the name of the process on the board. */
  readonly process: string;
  /** Made for each start. A connection with another one does not take the place of this. */
  readonly instance: string;
}

/** Process: what people may start and read there. Sent after `reported`, and after each change. */
export interface OffersFrame {
  readonly type: "offers";
  readonly ensembles: readonly StartableEnsemble[];
  readonly conversations: readonly ConversationInfo[];
}

/** Process: what became of a request. */
export interface ReportAnswerFrame {
  readonly type: "answer";
  readonly id: number;
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/** Board: the answer to `report`. */
export interface ReportedFrame {
  readonly type: "reported";
  readonly protocol: typeof PROTOCOL;
  /** The number of the last entry that the board has had of each run. */
  readonly runs: Readonly<Record<string, number>>;
}

/** Frames of a process. `events` has full entries and pieces of answers, `reviews` all reviews that wait. */
export type ProcessFrame =
  ReportFrame | OffersFrame | ReportAnswerFrame | EventsFrame | ReviewsFrame;

/** Frames of the board to a process. `resync`: entries behind `n` are missing on the board. `watch`: tasks whose streamed text is wanted. */
export type BoardFrame =
  | ReportedFrame
  | ResyncFrame
  | { readonly type: "watch"; readonly runId: string; readonly tasks: readonly string[] }
  | (ProcessRequest & { readonly type: "request"; readonly id: number });

/** What the board passes on to the process of a run, a review, an ensemble or a conversation. */
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
