import type { ReviewResolution } from "../../contracts/review.js";
import type { Fields } from "../../util/objects.js";
import { ReviewDecision } from "../../contracts/review.js";
import { badRequest, HttpRefusal, notFoundRefusal } from "../shared/http/http-refusal.js";

const FIELDS = ["decision", "text", "revisedOutput", "comment"];

/**
 * Parses the decision in the body of an answer. `by` is the name of the sender.
 * @throws HttpRefusal 400
 */
export function decisionIn(body: Fields, by: string): ReviewDecision {
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw badRequest(`Unknown field '${unknown}'. Known: ${FIELDS.join(", ")}.`);
  const { decision, text, revisedOutput = text, comment } = body;
  if (comment !== undefined && typeof comment !== "string")
    throw badRequest("comment must be a text");
  if (text !== undefined && text !== revisedOutput)
    throw badRequest("text and revisedOutput mean the same; give one of them");
  const word = typeof decision === "string" ? decision.toUpperCase() : "";
  if (word === "EDIT") {
    if (typeof revisedOutput !== "string") throw badRequest("An edit needs a text");
    return ReviewDecision.edit(revisedOutput, { by, comment });
  }
  if (revisedOutput !== undefined) throw badRequest("Only an edit has a text");
  if (word === "CONTINUE") return ReviewDecision.continue({ by, comment });
  if (word === "EXIT_EARLY") return ReviewDecision.exitEarly({ by, comment });
  throw badRequest("decision must be continue, edit or exit_early");
}

/** Returns the result of an answer for the client. @throws HttpRefusal 404, 409, 410 */
export function answeredReview({ outcome, review }: ReviewResolution): Fields {
  if (review === undefined) throw noSuchReview();
  const { reviewId, decision, decidedAt } = review;
  if (outcome === "resolved") return { reviewId, decision: decision?.type, status: "APPLIED" };
  if (outcome === "over")
    throw new HttpRefusal(410, "REVIEW_OVER", "Its time is up, or its run has ended");
  throw new HttpRefusal(409, "REVIEW_RESOLVED", "It has been answered already", {
    fields: { by: decision?.by, at: decidedAt, decision: decision?.type },
  });
}

export function noSuchReview(): HttpRefusal {
  return notFoundRefusal("REVIEW_NOT_FOUND", "There is no such review");
}
