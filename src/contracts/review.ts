import type { ToolCallContext } from "./hooks.js";
import type { HookRun } from "./run.js";
import type { Awaitable } from "./types.js";
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

/** @throws ValidationError for what can't be said of a review. */
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
export interface ReviewDecision {
  readonly type: "CONTINUE" | "EDIT" | "EXIT_EARLY";
  /** The text to use instead; of EDIT. */
  readonly revisedOutput?: string;
  /** Whether it was the clock that ended it; of EXIT_EARLY. */
  readonly timedOut?: boolean;
}

/** Makes decisions. */
export const ReviewDecision = Object.freeze({
  /** Go on as it is. */
  continue: (): ReviewDecision => Object.freeze({ type: "CONTINUE" as const }),
  /** Go on with this text instead. @throws ValidationError for anything but a string. */
  edit: (text: string): ReviewDecision => {
    if (typeof text !== "string")
      throw new ValidationError(`ReviewDecision.edit text must be a string, got: ${preview(text)}`);
    return Object.freeze({ type: "EDIT" as const, revisedOutput: text });
  },
  /** End the run here; what is done is kept. `timedOut`: it was the clock; the run's exit reason is then TIMEOUT. @throws ValidationError for other options. */
  exitEarly: (o: { readonly timedOut?: boolean | undefined } = {}): ReviewDecision => {
    checkOptions("ReviewDecision.exitEarly", o, ["timedOut"]);
    requireBoolean("ReviewDecision.exitEarly timedOut", o.timedOut);
    return Object.freeze({ type: "EXIT_EARLY" as const, timedOut: o.timedOut ?? false });
  },
});

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
  /** 0: for ever. The framework keeps the time; the handler may show it. */
  readonly timeoutMs: number;
  readonly onTimeout: OnReviewTimeout;
  readonly requiredRole?: string;
  /** Aborted when the answer is no longer wanted: the time is up, or the run has ended. */
  readonly signal: AbortSignal;
}

/** Asks a person, and gives what was decided. The gate stays closed when it throws or answers nonsense. */
export type ReviewHandler = (request: ReviewRequest) => Awaitable<ReviewDecision>;

/** A question of the framework's or of a tool's, before it has an id and a deadline. */
export interface ReviewQuestion extends ReviewOptions {
  readonly timing: ReviewTiming;
  readonly taskDescription: string;
  readonly taskOutput: string;
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

/** The one way to a person: gives the question to the run's handler, keeps the time, emits the events. Bound by the review plugin. */
export interface ReviewGate {
  /** Whether the run has a handler. */
  hasHandler(run: HookRun): boolean;
  /**
   * The decision; after a time-out that of `onTimeout`.
   * @throws ToolConfigurationError without a handler; ReviewTimeoutError; ReviewError; the signal's reason.
   */
  ask(question: ReviewQuestion, asker: ReviewAsker): Promise<ReviewDecision>;
}

/** Says which tool calls wait for a person, beside what tools say of themselves: a contribution to `Tokens.ApprovalPolicy`. One yes is enough. */
export interface ApprovalPolicy {
  readonly name: string;
  /** `true`, or a text that tells the person why. */
  needsApproval(call: ToolCallContext): Awaitable<boolean | string>;
}
