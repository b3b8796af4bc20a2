import type { ToolCallContext } from "./hooks.js";
import type { HookRun } from "./run.js";
import type { Awaitable, JsonSchema } from "./types.js";
import { ValidationError } from "./errors.js";
import { PromptText, requirePrompt, type Text } from "./prompt-text.js";
import {
  checkOptions,
  preview,
  requireBoolean,
  requireInteger,
  requireOneOf,
  requireText,
} from "./validation.js";

/** The reaction to a review that is not answered in time. */
export type OnReviewTimeout = "CONTINUE" | "EXIT_EARLY" | "FAIL";

/** The point in a task at which a review happens. */
export type ReviewTiming = "BEFORE_EXECUTION" | "DURING_EXECUTION" | "AFTER_EXECUTION";

/** Options of a review. */
export interface ReviewOptions {
  /**
   * The question to the person. A string is used unchanged. The variables of a `prompt` text are
   * filled from the run's inputs.
   */
  readonly prompt?: Text | undefined;
  /** Time limit of the answer in milliseconds. 0: no limit. Default 300,000. */
  readonly timeoutMs?: number | undefined;
  /** The reaction to the time limit. Default EXIT_EARLY. */
  readonly onTimeout?: OnReviewTimeout | undefined;
  /**
   * The role that the answering person must have. The handler receives the role and must check it.
   */
  readonly requiredRole?: string | undefined;
}

/** Whether a person reviews a task, and with which options. Created by {@link Review}. */
export interface Review extends ReviewOptions {
  readonly mode: "REQUIRED" | "SKIP";
}

const REVIEW_OPTIONS = ["prompt", "timeoutMs", "onTimeout", "requiredRole"];
const ON_TIMEOUT = ["CONTINUE", "EXIT_EARLY", "FAIL"];

/**
 * Checks the options of a review. `what` names its owner in the error.
 * @throws ValidationError for a value out of range.
 */
export function checkReviewOptions(what: string, o: ReviewOptions): void {
  requireInteger(`${what} timeoutMs`, o.timeoutMs, 0, "0 (waits without end) or more milliseconds");
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

/** @throws ValidationError for options: they would have no effect. */
function promptOnly(prompt?: unknown, options?: unknown): ReviewOptions {
  if (prompt === undefined && options === undefined) return {};
  if (options === undefined && (typeof prompt === "string" || prompt instanceof PromptText))
    return { prompt };
  throw new ValidationError(
    `Review.required accepts only a prompt, got: ${preview(options ?? prompt)}`,
    { hint: "Pass options to Review.of({ prompt, requiredRole })." },
  );
}

const requiredWith: (prompt?: Text) => Review = (prompt?: unknown, options?: unknown) =>
  required(promptOnly(prompt, options));

/** Creates values for `Task.review` (review after the task) and `Task.beforeReview`. */
export const Review = Object.freeze({
  /** Requires a person's approval. @throws ValidationError for anything other than a prompt. */
  required: requiredWith,
  /** Requires no review, regardless of the ensemble's `reviewPolicy`. */
  skip: (): Review => Object.freeze({ mode: "SKIP" as const }),
  /** Requires a person's approval, with these options. @throws ValidationError */
  of: (o: ReviewOptions): Review => required(o),
});

/** @throws ValidationError for an invalid {@link Review}. */
export function checkReview(what: string, review: unknown): void {
  if (review === undefined) return;
  const mode =
    typeof review === "object" && review !== null && "mode" in review ? review.mode : undefined;
  if (mode !== "REQUIRED" && mode !== "SKIP")
    throw new ValidationError(`${what} must be a Review, got: ${preview(review)}`, {
      hint: "Use Review.required(), Review.skip() or Review.of({...}).",
    });
  checkReviewOptions(what, review as Review); // a review has a mode
}

/** A person's decision. */
export interface ReviewDecision extends ReviewRemarks {
  readonly type: "CONTINUE" | "EDIT" | "EXIT_EARLY";
  /** The replacement of the text. Present only with EDIT. */
  readonly revisedOutput?: string;
  /** Whether the time limit decided the review. Present only with EXIT_EARLY. */
  readonly timedOut?: boolean;
}

/** Remarks on a decision. */
export interface ReviewRemarks {
  /**
   * The person who decided, as identified by the program that asked the person. The framework does
   * not check this field.
   */
  readonly by?: string | undefined;
  /** The reason for the decision. If a tool call is refused, the model receives the reason. */
  readonly comment?: string | undefined;
}

/** Creates decisions. All of them accept `by` and `comment`. */
export const ReviewDecision = Object.freeze({
  /** Continues unchanged. @throws ValidationError for other options. */
  continue: (o: ReviewRemarks = {}): ReviewDecision => {
    checkOptions("ReviewDecision.continue", o, ["by", "comment"]);
    return decided("continue", { type: "CONTINUE" }, o);
  },
  /**
   * Continues with this text in place of the reviewed text.
   * @throws ValidationError unless `text` is a string, and for other options.
   */
  edit: (text: string, o: ReviewRemarks = {}): ReviewDecision => {
    if (typeof text !== "string")
      throw new ValidationError(`ReviewDecision.edit text must be a string, got: ${preview(text)}`);
    checkOptions("ReviewDecision.edit", o, ["by", "comment"]);
    return decided("edit", { type: "EDIT", revisedOutput: text }, o);
  },
  /**
   * Ends the run and keeps the finished work. `timedOut`: the time limit ended the review. The
   * run's exit reason is then TIMEOUT.
   * @throws ValidationError for other options.
   */
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
 * Returns a value as a checked decision, without unknown fields.
 *
 * @throws ValidationError for a value that is not a decision.
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

/**
 * A request to a review handler. `reviewId` is equal for the same question of a run. The answer may
 * therefore come later or through another channel.
 */
export interface ReviewRequest {
  readonly reviewId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly agentRole: string;
  readonly taskDescription: string;
  /** The text under review. Empty before execution. */
  readonly taskOutput: string;
  readonly timing: ReviewTiming;
  readonly prompt?: string;
  /** The name of the tool whose call waits for approval, or that asks for a review. */
  readonly toolName?: string;
  /** The id of this tool call. */
  readonly callId?: string;
  /**
   * The complete input of a call that waits for approval, as JSON data. Its keys are in the order
   * of the tool's schema.
   */
  readonly input?: unknown;
  /**
   * Present if the texts of the request show only a part of the input. Also present if `input`
   * lacks values that JSON can't represent. A program that shows the request must display this
   * fact.
   */
  readonly truncated?: true;
  /** The JSON Schema of the text of an edit. Absent: any text is allowed. */
  readonly editSchema?: JsonSchema;
  /**
   * Present if a `clientTool` was called. The answer is then an edit with the output of the call as
   * JSON.
   */
  readonly expects?: "output";
  /** Time of the first request as an ISO instant. */
  readonly requestedAt: string;
  /** Time limit of the answer as an ISO instant. Missing without a limit. */
  readonly deadline?: string;
  /**
   * Time limit in milliseconds. 0: no limit. The framework enforces the limit. A handler may
   * display it.
   */
  readonly timeoutMs: number;
  readonly onTimeout: OnReviewTimeout;
  readonly requiredRole?: string;
  /**
   * Aborted when the answer is no longer needed: after the time limit, or at the end of the run.
   */
  readonly signal: AbortSignal;
}

/**
 * Asks a person and returns the decision. If the handler throws or returns an invalid decision, the
 * review does not count as approved.
 */
export type ReviewHandler = (request: ReviewRequest) => Awaitable<ReviewDecision>;

/** A stored review, as plain data. */
export interface StoredReview extends Omit<ReviewRequest, "signal"> {
  /** The decision. Missing while the review is undecided. */
  readonly decision?: ReviewDecision;
  /** Time of the decision as an ISO instant. */
  readonly decidedAt?: string;
}

/** The outcome of an answer. */
export interface ReviewResolution {
  /**
   * `resolved`: the answer applies. `decided`: an earlier answer applies. `over`: no run waits for
   * the answer, because the time limit has passed or the run has ended. `unknown`: the store has no
   * such review.
   */
  readonly outcome: "resolved" | "decided" | "over" | "unknown";
  /** The review with its current decision. Missing if the review is unknown. */
  readonly review?: StoredReview;
}

/**
 * Stores reviews. Runs add reviews. Pages, terminals and routes list and answer them. Any number of
 * ensembles can share one store. Check an implementation with `reviewStoreContract` of
 * `agentensemble/testing`.
 */
export interface ReviewStore {
  /**
   * Stores a review and calls the listeners. If reviews are kept after the process, returns the
   * stored review of a known id, with its decision.
   * @throws ReviewError for an id that is already waiting in this process.
   */
  ask(request: Omit<ReviewRequest, "signal">): Awaitable<StoredReview>;
  /** Returns the waiting reviews, oldest first. */
  pending(): Awaitable<readonly StoredReview[]>;
  /**
   * Answers a review. If there are several answers, the first answer applies. The caller must check
   * the role (`requiredRole`).
   *
   * @throws ValidationError for an invalid decision. The review then remains undecided.
   */
  resolve(reviewId: string, decision: ReviewDecision): Awaitable<ReviewResolution>;
  /**
   * Waits for the decision on behalf of the run that asked. An abort of `signal` ends the review. A
   * review that is kept after the end of the process does not end, but waits until its deadline.
   * @throws the signal's reason; ReviewError for an unknown id.
   */
  waitFor(reviewId: string, signal: AbortSignal): Promise<ReviewDecision>;
  /**
   * Calls `fn` with each new review. Returns a function that ends the subscription. If `fn` throws,
   * a process warning is emitted, and the review remains undecided.
   */
  onRequest(fn: (review: StoredReview) => unknown): () => void;
  /**
   * Returns whether this process can answer reviews. True if a listener is subscribed, or if an
   * option of the store states that a reviewer answers.
   */
  isWatched(): boolean;
  /**
   * Returns instructions to answer a review from outside of this process: a command or a URL.
   * Present only if reviews are kept after the end of the process. A run then waits even if no
   * listener is subscribed.
   */
  howToAnswer?(reviewId: string): string;
}

/** A question of the framework or of a tool, before the gate adds an id and a deadline. */
export interface ReviewQuestion extends ReviewOptions {
  readonly timing: ReviewTiming;
  readonly taskDescription: string;
  readonly taskOutput: string;
  readonly toolName?: string | undefined;
  readonly callId?: string | undefined;
  readonly input?: unknown;
  readonly truncated?: boolean | undefined;
  readonly editSchema?: JsonSchema | undefined;
  readonly expects?: ReviewRequest["expects"] | undefined;
  /** Distinguishes several questions of the same task and attempt. */
  readonly key: string;
}

/** The asking task. */
export interface ReviewAsker {
  readonly run: HookRun;
  readonly taskId: string;
  readonly parentTaskId?: string | undefined;
  readonly agentRole: string;
  readonly attempt: number;
  /** Aborted at the end of the task. */
  readonly signal: AbortSignal;
}

/**
 * The only gateway to people. Passes each question to the run's handler, or else to its store.
 * Enforces the time limit and emits the events. Bound by the review plugin.
 */
export interface ReviewGate {
  /**
   * Returns whether an answer is possible. True if the run has a handler, its store is watched, or
   * its reviews are kept after the process.
   */
  canAsk(run: HookRun): boolean;
  /**
   * Asks a question and resolves with the decision. After the time limit, `onTimeout` determines
   * the result.
   *
   * @throws ReviewUnavailableError if no answer is possible; ReviewTimeoutError; ReviewError; the
   * signal's reason.
   */
  ask(question: ReviewQuestion, asker: ReviewAsker): Promise<ReviewDecision>;
}

/**
 * Decides which tool calls need a person's approval, in addition to the options of tools.
 * Contributed to `Tokens.ApprovalPolicy`. A call needs approval if at least one policy requires it.
 */
export interface ApprovalPolicy {
  readonly name: string;
  /**
   * Returns whether the call needs approval. A returned text means `true` and is shown to the
   * person as the reason.
   */
  needsApproval(call: ToolCallContext): Awaitable<boolean | string>;
}
