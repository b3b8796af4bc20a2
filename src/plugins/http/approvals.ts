import type { Fields } from "../../util/objects.js";
import { ReviewDecision } from "../../contracts/review.js";
import { asFields, asList } from "../../util/objects.js";
import { badRequest } from "../shared/http/http-refusal.js";

/** An answer to the question whether a tool call may be made. */
export interface ApprovalAnswer {
  readonly reviewId: string;
  readonly decision: ReviewDecision;
}

/**
 * The answers in the last one of a list of UI messages, all else in it is ignored; `undefined` for a body without any.
 * @throws HttpRefusal 400 for an answer that is neither yes nor no.
 */
export function approvalsIn(
  { messages }: Fields,
  by: string,
): readonly ApprovalAnswer[] | undefined {
  const parts = asList(asFields(asList(messages).at(-1))?.["parts"]);
  const answers = parts.flatMap((part) => {
    const { state, approval } = asFields(part) ?? {};
    return state === "approval-responded" ? [approvalAnswerOf(asFields(approval) ?? {}, by)] : [];
  });
  return answers.length === 0 ? undefined : answers;
}

/** A refusal ends the call and not the run: the model receives the reason. */
function approvalAnswerOf({ id, approved, reason }: Fields, by: string): ApprovalAnswer {
  if (typeof id !== "string" || typeof approved !== "boolean")
    throw badRequest("An approval needs an id, and approved must be true or false");
  if (reason !== undefined && typeof reason !== "string")
    throw badRequest("The reason of an approval must be a text");
  const remarks = { by, comment: reason };
  const decision = approved ? ReviewDecision.continue(remarks) : ReviewDecision.exitEarly(remarks);
  return { reviewId: id, decision };
}
