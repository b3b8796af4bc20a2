import type { StoredReview } from "../../contracts/review.js";
import type { Fields } from "../../util/objects.js";
import type { ChunkSource } from "../shared/ui-stream/chunk-response.js";
import type { LiveStream } from "./live-stream.js";
import type { AnswerableReviews } from "./run-handler-options.js";
import { ReviewDecision } from "../../contracts/review.js";
import { asFields, asList } from "../../util/objects.js";
import { badRequest, HttpRefusal } from "../shared/http/http-refusal.js";
import { forbidden } from "./serve-endpoints.js";

/** An answer to the approval request of a tool call. */
export interface ApprovalAnswer {
  readonly reviewId: string;
  readonly decision: ReviewDecision;
}

/** The end of a tool call in a message of a page. */
interface CallOutput {
  readonly callId: string;
  /** Returns the answer, if a review awaits the output of the call. */
  readonly decision: () => ReviewDecision;
}

/** The answers in a message from a page. */
export interface PageAnswers {
  readonly approvals: readonly ApprovalAnswer[];
  /** The outputs of all calls, including calls that the server executed. */
  readonly outputs: readonly CallOutput[];
  /** The id of the turn or run whose answer is this message. */
  readonly runId: string | undefined;
}

/**
 * Returns the answers in the message with the id `messageId`, otherwise in the last message.
 * Ignores other parts of the message. Returns `undefined` for a body without answers.
 * @throws HttpRefusal 400 for an answer that is neither yes nor no.
 */
export function answersIn(
  { messages, message, messageId, trigger = "submit-message" }: Fields,
  by: string,
): PageAnswers | undefined {
  const all = message === undefined ? asList(messages).map(asFields) : [asFields(message)];
  const named = all.findLast((one) => one?.["id"] === messageId && messageId !== undefined);
  const { id, role, parts: given } = named ?? all.at(-1) ?? {};
  const parts = asList(given).map((part) => asFields(part) ?? {});
  const approvals = parts.flatMap(({ state, approval }) =>
    state === "approval-responded" ? [approvalAnswerOf(asFields(approval) ?? {}, by)] : [],
  );
  const isAnswer = role === "assistant" && trigger === "submit-message";
  const outputs = isAnswer ? parts.flatMap((part) => callOutputOf(part, by)) : [];
  if (approvals.length === 0 && outputs.length === 0) return undefined;
  return { approvals, outputs, runId: typeof id === "string" ? turnOfMessage(id) : undefined };
}

/** Returns the turn whose answer has this message id. */
function turnOfMessage(id: string): string | undefined {
  return id.endsWith("-a") ? id.slice(0, -2) : undefined;
}

/**
 * Returns the output of a call. An error of the page is a refusal with its text, which the model
 * receives as the failure.
 */
function callOutputOf(
  { toolCallId, state, output, errorText }: Fields,
  by: string,
): readonly CallOutput[] {
  if (typeof toolCallId !== "string") return [];
  if (state === "output-available") {
    const decision = (): ReviewDecision =>
      ReviewDecision.edit(JSON.stringify(output ?? null), { by });
    return [{ callId: toolCallId, decision }];
  }
  if (state !== "output-error") return [];
  const comment = typeof errorText === "string" ? errorText : undefined;
  return [{ callId: toolCallId, decision: () => ReviewDecision.exitEarly({ by, comment }) }];
}

/**
 * Returns the answer of an approval. A refusal ends the call, not the run. The model receives the
 * reason.
 */
function approvalAnswerOf({ id, approved, reason }: Fields, by: string): ApprovalAnswer {
  if (typeof id !== "string" || typeof approved !== "boolean")
    throw badRequest("An approval needs an id, and approved must be true or false");
  if (reason !== undefined && typeof reason !== "string")
    throw badRequest("The reason of an approval must be a text");
  const remarks = { by, comment: reason };
  const decision = approved ? ReviewDecision.continue(remarks) : ReviewDecision.exitEarly(remarks);
  return { reviewId: id, decision };
}

/**
 * Returns the answers to the reviews of a stream: the approvals, and the outputs of the calls for
 * the page.
 */
export function answersFor(
  { clientCalls }: LiveStream,
  { approvals, outputs }: PageAnswers,
): readonly ApprovalAnswer[] {
  const answered = outputs.flatMap(({ callId, decision }) => {
    const reviewId = clientCalls.get(callId);
    return reviewId === undefined ? [] : [{ reviewId, decision: decision() }];
  });
  return [...approvals, ...answered];
}

/** Returns whether a stream awaits one of these answers. */
export function asksFor(
  stream: LiveStream | undefined,
  { approvals, outputs }: PageAnswers,
): boolean {
  if (stream === undefined) return false;
  return (
    approvals.some(({ reviewId }) => stream.asked(reviewId)) ||
    outputs.some(({ callId }) => stream.clientCalls.has(callId))
  );
}

/** The store and the access rule for answers. */
export interface AnswerDesk {
  readonly reviews: AnswerableReviews;
  readonly mayAnswer: (review: StoredReview) => boolean;
}

/**
 * Answers the questions of a run, and returns the rest of its stream. Ignores answers to unknown or
 * already answered questions.
 * @throws HttpRefusal 403 for a review that needs another role. 409 if another request continues
 * the stream, or if the run waits for another answer.
 */
export async function answeredStream(
  stream: LiveStream,
  answers: readonly ApprovalAnswer[],
  { reviews, mayAnswer }: AnswerDesk,
): Promise<ChunkSource> {
  const pending = (await reviews.pending()).filter(({ reviewId }) => stream.asked(reviewId));
  const open = answers.flatMap(({ reviewId, decision }) => {
    const review = pending.find((one) => one.reviewId === reviewId);
    return review === undefined ? [] : [{ review, decision }];
  });
  if (!open.every(({ review }) => mayAnswer(review))) throw forbidden();
  for (const { review, decision } of open) await reviews.resolve(review.reviewId, decision);
  const source = await stream.continueAfter(answers.map(({ reviewId }) => reviewId));
  if (source !== undefined) return source;
  throw new HttpRefusal(
    409,
    "STREAM_IN_USE",
    "Another request has this stream, or it waits for another answer",
  );
}
