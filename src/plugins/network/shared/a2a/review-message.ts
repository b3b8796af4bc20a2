import type { Message, Part } from "@a2a-js/sdk";
import type { Fields } from "../../../../util/objects.js";
import type { ReviewDecision, StoredReview } from "../../../../contracts/review.js";
import { asReviewDecision } from "../../../../contracts/review.js";
import { preview } from "../../../../contracts/validation.js";
import { messageOf } from "../../../../util/errors.js";
import { asFields } from "../../../../util/objects.js";
import { partContents, dataPart, messageWith, textPart } from "./parts.js";
import { ROLE } from "./protocol.js";

/** A question of a remote run. */
export interface RemoteReview {
  readonly reviewId: string;
  readonly question: string;
  /** The text under review. */
  readonly output?: string | undefined;
  /** An ISO instant after which no answer is accepted. */
  readonly expires?: string | undefined;
}

/** The fields of a review that a question contains. */
export type AskedReview = Pick<
  StoredReview,
  "reviewId" | "prompt" | "taskDescription" | "taskOutput" | "deadline"
>;

/** Returns the parts of a message that asks for the answer to a review. */
export function reviewParts({
  reviewId,
  prompt,
  taskDescription,
  taskOutput,
  deadline,
}: AskedReview): Part[] {
  const question = prompt ?? `Approve: ${taskDescription}`;
  const review: RemoteReview = {
    reviewId,
    question,
    ...(taskOutput !== "" && { output: taskOutput }),
    ...(deadline !== undefined && { expires: deadline }),
  };
  const shown = taskOutput === "" ? question : `${question}\n\n${taskOutput}`;
  return [textPart(shown), dataPart(review)];
}

/** Reads the question of a message. Returns `undefined` for a message without a question. */
export function reviewOf(message: Message | undefined): RemoteReview | undefined {
  for (const value of partContents(message?.parts).data) {
    const { reviewId, question, output, expires } = asFields(value) ?? {};
    if (typeof reviewId === "string" && typeof question === "string")
      return {
        reviewId,
        question,
        ...(typeof output === "string" && { output }),
        ...(typeof expires === "string" && { expires }),
      };
  }
  return undefined;
}

const ANSWER_FIELDS = ["reviewId", "decision", "revisedOutput", "comment"];

/** The answer to a review, or the reason why a message is not an answer. */
export type ReviewAnswer =
  { readonly reviewId: string; readonly decision: ReviewDecision } | { readonly problem: string };

/** Reads the answer to a review. `by` is the sender. Never throws. */
export function answerInMessage(message: Message, by: string): ReviewAnswer {
  const { data } = partContents(message.parts);
  const fields = data.map(asFields).find((one) => one !== undefined && "decision" in one);
  if (fields === undefined)
    return { problem: "An answer needs a data part { reviewId, decision }" };
  const unknown = Object.keys(fields).find((name) => !ANSWER_FIELDS.includes(name));
  if (unknown !== undefined)
    return { problem: `Unknown field '${unknown}'. Known: ${ANSWER_FIELDS.join(", ")}.` };
  return answerDecision(fields, by);
}

function answerDecision(fields: Fields, by: string): ReviewAnswer {
  const { reviewId, decision, revisedOutput, comment } = fields;
  if (typeof reviewId !== "string")
    return { problem: `reviewId must be a text, got: ${preview(reviewId)}` };
  const type = typeof decision === "string" ? decision.toUpperCase() : "";
  if (!["CONTINUE", "EDIT", "EXIT_EARLY"].includes(type))
    return { problem: `decision must be continue, edit or exit_early, got: ${preview(decision)}` };
  if (type !== "EDIT" && revisedOutput !== undefined)
    return { problem: "revisedOutput is for the decision edit only" };
  try {
    return { reviewId, decision: asReviewDecision({ type, revisedOutput, comment, by }) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** Returns the message that answers a review of a task. */
export function messageOfAnswer(
  messageId: string,
  taskId: string,
  reviewId: string,
  { type, revisedOutput, comment }: ReviewDecision,
): Message {
  const answer = {
    reviewId,
    decision: type,
    ...(type === "EDIT" && { revisedOutput }),
    ...(comment !== undefined && { comment }),
  };
  return messageWith({ messageId, taskId, role: ROLE.USER, parts: [dataPart(answer)] });
}
