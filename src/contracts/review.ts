import type { ToolCallContext } from "./hooks.js";
import type { HookRun } from "./run.js";
import type { Awaitable, JsonSchema } from "./types.js";
import { ValidationError } from "./errors.js";
import { requirePrompt, type Text } from "./prompt-text.js";
import {
  checkOptions,
  preview,
  requireBoolean,
  requireInteger,
  requireOneOf,
  requireText,
} from "./validation.js";

/** What happens when nobody answers in time. */
export type OnReviewTimeout = "CONTINUE" | "EXIT_EARLY" | "FAIL";

/** Where in a task a review stands. */
export type ReviewTiming = "BEFORE_EXECUTION" | "DURING_EXECUTION" | "AFTER_EXECUTION";

/** What may be set of a review. */
export interface ReviewOptions {
  /** What the person is asked. A string is taken as it is; the variables of a `prompt` text are filled from the run's inputs. */
  readonly prompt?: Text | undefined;
  /** How long an answer is waited for, in milliseconds; 0 waits for ever. Default 300,000. */
  readonly timeoutMs?: number | undefined;
  /** Default EXIT_EARLY. */
  readonly onTimeout?: OnReviewTimeout | undefined;
  /** The role that whoever answers must have; passed on to the handler, which alone knows who that is. */
  readonly requiredRole?: string | undefined;
}

/** Whether a task waits for a person, and how; see {@link Review} the value. */
export interface Review extends ReviewOptions {
  readonly mode: "REQUIRED" | "SKIP";
}

const REVIEW_OPTIONS = ["prompt", "timeoutMs", "onTimeout", "requiredRole"];
const ON_TIMEOUT = ["CONTINUE", "EXIT_EARLY", "FAIL"];

/** Checks the options of a review. `what` names its owner in the error. @throws ValidationError for a value out of range. */
export function checkReviewOptions(what: string, o: ReviewOptions): void {
  requireInteger(`${what} timeoutMs`, o.timeoutMs, 0, "0 (waits for ever) or more milliseconds");
  requireOneOf(`${what} onTimeout`, o.onTimeout, ON_TIMEOUT);
  if (o.prompt !== undefined) requirePrompt(o.prompt, `${what} prompt must not be blank when set`);
  if (o.requiredRole !== undefined)
    requireText(o.requiredRole, `${what} requiredRole must not be blank when set`);
}

function required(o: ReviewOptions): Review {
  checkOptions("Review", o, REVIEW_OPTIONS);
  checkReviewOptions("Review", o);
  return Object.freeze({ mode: "REQUIRED", ...o });
}

/** For `Task.review` (after the task) and `Task.beforeReview`. */
export const Review = Object.freeze({
  /** Somebody must say yes. */
  required: (prompt?: Text): Review => required(prompt === undefined ? {} : { prompt }),
  /** Nobody is asked, whatever the ensemble's `reviewPolicy`. */
  skip: (): Review => Object.freeze({ mode: "SKIP" as const }),
  /** Somebody must say yes, with these details. @throws ValidationError */
  of: (o: ReviewOptions): Review => required(o),
});

/** @throws ValidationError for what is no {@link Review}. */
export function checkReview(what: string, review: unknown): void {
  if (review === undefined) return;
  const mode =
    typeof review === "object" && review !== null && "mode" in review ? review.mode : undefined;
  if (mode !== "REQUIRED" && mode !== "SKIP")
    throw new ValidationError(`${what} must be a Review, got: ${preview(review)}`, {
      hint: "Use Review.required(), Review.skip() or Review.of({...}).",
    });
  checkReviewOptions(what, review as Review); // a review by its mode
}

/** What a person decided. */
export interface ReviewDecision extends ReviewRemarks {
  readonly type: "CONTINUE" | "EDIT" | "EXIT_EARLY";
  /** The text to use instead; of EDIT. */
  readonly revisedOutput?: string;
  /** Whether it was the clock that ended it; of EXIT_EARLY. */
  readonly timedOut?: boolean;
}

/** What a decision may say beside what is to be done. */
export interface ReviewRemarks {
  /** Who decided, as the program that asked knows them. The framework passes it on and does not check it. */
  readonly by?: string | undefined;
  /** Why. The model is told it where a tool call is refused. */
  readonly comment?: string | undefined;
}

/** Makes decisions. Each takes `by` and `comment`. */
export const ReviewDecision = Object.freeze({
  /** Go on as it is. @throws ValidationError for other options. */
  continue: (o: ReviewRemarks = {}): ReviewDecision => {
    checkOptions("ReviewDecision.continue", o, ["by", "comment"]);
    return decided("continue", { type: "CONTINUE" }, o);
  },
  /** Go on with this text instead. @throws ValidationError for anything but a string, and for other options. */
  edit: (text: string, o: ReviewRemarks = {}): ReviewDecision => {
    if (typeof text !== "string")
      throw new ValidationError(`ReviewDecision.edit text must be a string, got: ${preview(text)}`);
    checkOptions("ReviewDecision.edit", o, ["by", "comment"]);
    return decided("edit", { type: "EDIT", revisedOutput: text }, o);
  },
  /** End the run here; what is done is kept. `timedOut`: it was the clock; the run's exit reason is then TIMEOUT. @throws ValidationError for other options. */
  exitEarly: (
    o: ReviewRemarks & { readonly timedOut?: boolean | undefined } = {},
  ): ReviewDecision => {
    checkOptions("ReviewDecision.exitEarly", o, ["timedOut", "by", "comment"]);
    requireBoolean("ReviewDecision.exitEarly timedOut", o.timedOut);
    return decided("exitEarly", { type: "EXIT_EARLY", timedOut: o.timedOut ?? false }, o);
  },
});

function decided(
  maker: string,
  decision: ReviewDecision,
  { by, comment }: ReviewRemarks,
): ReviewDecision {
  for (const [name, value] of Object.entries({ by, comment }))
    if (value !== undefined && typeof value !== "string")
      throw new ValidationError(
        `ReviewDecision.${maker} ${name} must be a text, got: ${preview(value)}`,
      );
  return Object.freeze({
    ...decision,
    ...(by !== undefined && { by }),
    ...(comment !== undefined && { comment }),
  });
}

/**
 * The decision that a value stands for: checked, without fields that no decision has.
 * @throws ValidationError for anything else.
 */
export function asReviewDecision(value: unknown): ReviewDecision {
  const { type, revisedOutput, timedOut, by, comment } =
    typeof value === "object" && value !== null
      ? (value as { readonly [K in keyof ReviewDecision]?: never }) // each is checked by its maker
      : ({} as Readonly<Record<string, never>>);
  if (type === "CONTINUE") return ReviewDecision.continue({ by, comment });
  if (type === "EXIT_EARLY") return ReviewDecision.exitEarly({ timedOut, by, comment });
  if (type === "EDIT" && typeof revisedOutput === "string")
    return ReviewDecision.edit(revisedOutput, { by, comment });
  throw new ValidationError(
    type === "EDIT"
      ? "An EDIT must have a text as revisedOutput"
      : `Not a review decision: ${preview(value)}`,
    { hint: "Make it with ReviewDecision.continue(), .edit(text) or .exitEarly()." },
  );
}

/** What a handler is asked. `reviewId` is the same for the same question of a run, so that an answer may come later and by another way. */
export interface ReviewRequest {
  readonly reviewId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly agentRole: string;
  readonly taskDescription: string;
  /** The text under review; empty before execution. */
  readonly taskOutput: string;
  readonly timing: ReviewTiming;
  readonly prompt?: string;
  /** The tool whose call waits for approval, or that asks. */
  readonly toolName?: string;
  /** The id of that call. */
  readonly callId?: string;
  /** The whole input of a call that waits for approval, as JSON data with its keys in the order of the tool's schema. */
  readonly input?: unknown;
  /** The texts of the request show only a part of the input, or `input` lacks what has no JSON form. Whoever shows the request says so. */
  readonly truncated?: true;
  /** What an edit has to be, where it is more than any text. */
  readonly editSchema?: JsonSchema;
  /** When it was asked first, as an ISO instant. */
  readonly requestedAt: string;
  /** Until when an answer is waited for, as an ISO instant; missing where that is for ever. */
  readonly deadline?: string;
  /** 0: for ever. The framework keeps the time; the handler may show it. */
  readonly timeoutMs: number;
  readonly onTimeout: OnReviewTimeout;
  readonly requiredRole?: string;
  /** Aborted when the answer is no longer wanted: the time is up, or the run has ended. */
  readonly signal: AbortSignal;
}

/** Asks a person, and gives what was decided. The gate stays closed when it throws or answers nonsense. */
export type ReviewHandler = (request: ReviewRequest) => Awaitable<ReviewDecision>;

/** A review as a store keeps it: data alone. */
export interface StoredReview extends Omit<ReviewRequest, "signal"> {
  /** Missing while nobody has decided. */
  readonly decision?: ReviewDecision;
  /** When it was decided, as an ISO instant. */
  readonly decidedAt?: string;
}

/** What became of an answer. */
export interface ReviewResolution {
  /**
   * `resolved`: the answer holds. `decided`: an earlier one does. `over`: nobody waits any more, since the time is up or the run has ended. `unknown`: the
   * store knows no such review.
   */
  readonly outcome: "resolved" | "decided" | "over" | "unknown";
  /** The review as it is now, with the decision that holds; missing where it is unknown. */
  readonly review?: StoredReview;
}

/**
 * The inbox of reviews: runs ask here, and whatever shows reviews to people (a page, a terminal, a route) lists and answers them here. One store serves any
 * number of ensembles. `reviewStoreContract` of `agentensemble/testing` is its suite of tests.
 */
export interface ReviewStore {
  /**
   * Keeps a question, and tells those who listen. Where reviews outlive the process an id that is known gives the review as it was kept first, with its
   * decision where it has one.
   * @throws ReviewError for an id that is waiting already in this process.
   */
  ask(request: Omit<ReviewRequest, "signal">): Awaitable<StoredReview>;
  /** What waits, oldest first. */
  pending(): Awaitable<readonly StoredReview[]>;
  /**
   * Answers a review; of several answers the first holds. Who may answer (`requiredRole`) is for the caller to check.
   * @throws ValidationError for what is no decision; the review goes on waiting.
   */
  resolve(reviewId: string, decision: ReviewDecision): Awaitable<ReviewResolution>;
  /**
   * The decision, for the run that asked. When `signal` is aborted the review is over, unless it outlives the process: then it waits until its deadline.
   * @throws the signal's reason; ReviewError for an unknown id.
   */
  waitFor(reviewId: string, signal: AbortSignal): Promise<ReviewDecision>;
  /** Calls `fn` with each new review; call what it returns to stop. A function that throws is reported as a process warning, and the review waits all the same. */
  onRequest(fn: (review: StoredReview) => unknown): () => void;
  /** Whether somebody answers in this process: a function listens, or whoever made the store says so. */
  isWatched(): boolean;
  /** How a review is answered from outside this process: a command, an address. Only where reviews outlive the process; a run then waits unwatched, too. */
  howToAnswer?(reviewId: string): string;
}

/** A question of the framework's or of a tool's, before it has an id and a deadline. */
export interface ReviewQuestion extends ReviewOptions {
  readonly timing: ReviewTiming;
  readonly taskDescription: string;
  readonly taskOutput: string;
  readonly toolName?: string | undefined;
  readonly callId?: string | undefined;
  readonly input?: unknown;
  readonly truncated?: boolean | undefined;
  readonly editSchema?: JsonSchema | undefined;
  /** Tells apart several questions of one task and attempt. */
  readonly key: string;
}

/** Who is asking. */
export interface ReviewAsker {
  readonly run: HookRun;
  readonly taskId: string;
  readonly parentTaskId?: string | undefined;
  readonly agentRole: string;
  readonly attempt: number;
  /** Ends with the task. */
  readonly signal: AbortSignal;
}

/** The one way to a person: gives the question to the run's handler, else to its store, keeps the time, emits the events. Bound by the review plugin. */
export interface ReviewGate {
  /** Whether anybody can answer: the run has a handler, its store is watched, or reviews outlive the process. */
  canAsk(run: HookRun): boolean;
  /**
   * The decision; after a time-out that of `onTimeout`.
   * @throws ReviewUnavailableError where nobody can answer; ReviewTimeoutError; ReviewError; the signal's reason.
   */
  ask(question: ReviewQuestion, asker: ReviewAsker): Promise<ReviewDecision>;
}

/** Says which tool calls wait for a person, beside what tools say of themselves: a contribution to `Tokens.ApprovalPolicy`. One yes is enough. */
export interface ApprovalPolicy {
  readonly name: string;
  /** `true`, or a text that tells the person why. */
  needsApproval(call: ToolCallContext): Awaitable<boolean | string>;
}
