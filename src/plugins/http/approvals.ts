import type { StoredReview } from "../../contracts/review.js";
import type { Fields } from "../../util/objects.js";
import type { ChunkSource } from "../shared/ui-stream/chunk-response.js";
import type { LiveStream } from "./live-stream.js";
import type { AnswerableReviews } from "./run-handler-options.js";
import { ReviewDecision } from "../../contracts/review.js";
import { asFields, asList } from "../../util/objects.js";
import { badRequest, HttpRefusal } from "../shared/http/http-refusal.js";
import { forbidden } from "./serve-endpoints.js";

/** An answer to the request to approve a tool call. */
export interface ApprovalAnswer {
  readonly reviewId: string;
  readonly decision: ReviewDecision;
}

/**
 * Returns the answers in the message that `messageId` names, otherwise in the last message. Other
 * parts of it are ignored. Returns `undefined` for a body without answers.
 * @throws HttpRefusal 400 for an answer that is neither yes nor no.
 */
export function approvalsIn(
  { messages, message, messageId }: Fields,
  by: string,
): readonly ApprovalAnswer[] | undefined {
  const all = message === undefined ? asList(messages).map(asFields) : [asFields(message)];
  const named = all.findLast((one) => one?.["id"] === messageId && messageId !== undefined);
  const parts = asList((named ?? all.at(-1))?.["parts"]);
  const answers = parts.flatMap((part) => {
    const { state, approval } = asFields(part) ?? {};
    return state === "approval-responded" ? [approvalAnswerOf(asFields(approval) ?? {}, by)] : [];
  });
  return answers.length === 0 ? undefined : answers;
}

/** A refusal ends the call, not the run: the model receives the reason. */
function approvalAnswerOf({ id, approved, reason }: Fields, by: string): ApprovalAnswer {
  if (typeof id !== "string" || typeof approved !== "boolean")
    throw badRequest("An approval needs an id, and approved must be true or false");
  if (reason !== undefined && typeof reason !== "string")
    throw badRequest("The reason of an approval must be a text");
  const remarks = { by, comment: reason };
  const decision = approved ? ReviewDecision.continue(remarks) : ReviewDecision.exitEarly(remarks);
  return { reviewId: id, decision };
}

/** The store of the answers, and the access rules. */
export interface AnswerDesk {
  readonly reviews: AnswerableReviews;
  readonly mayAnswer: (review: StoredReview) => boolean;
}

/**
 * Answers the questions of a run, and returns the rest of its stream. Answers to unknown or already
 * answered questions are ignored.
 * @throws HttpRefusal 403 for a review that needs another role, 409 if another reader has the
 * stream or it waits for another answer.
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
  const source = await stream.goOn(answers.map(({ reviewId }) => reviewId));
  if (source !== undefined) return source;
  throw new HttpRefusal(
    409,
    "STREAM_IN_USE",
    "Another request has this stream, or it waits for another answer",
  );
}
