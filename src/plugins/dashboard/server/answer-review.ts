import type { Principal } from "../../../contracts/http-route.js";
import type { ReviewDecision as Decision, StoredReview } from "../../../contracts/review.js";
import type { Fields } from "../../../util/objects.js";
import type { AnsweredReview } from "../protocol/messages.js";
import type { ReviewAppliedBody } from "../protocol/http-bodies.js";
import type { Board } from "../board.js";
import { ReviewDecision } from "../../../contracts/review.js";
import { answerInProcess } from "../processes/passed-on.js";
import { userOf } from "./board-user.js";
import { isAdmitted } from "../../shared/http/routes.js";
import { badRequest, HttpRefusal, notFoundRefusal } from "../../shared/http/http-refusal.js";
import { requireFittingEdit } from "../../shared/http/fitting-edit.js";
import { hasReviewRole } from "../../shared/http/review-roles.js";

const FIELDS = ["decision", "revisedOutput", "comment"];
const MAX_COMMENT = 10_000;

/**
 * Answers a review for a person.
 * @throws HttpRefusal 400 for an invalid body; 403 without the role; 404 for an unknown review.
 * HttpRefusal 409 for an answered review; 410 for an expired review; 422 for an invalid edit.
 */
export async function answerReview(
  board: Pick<Board, "desk" | "audit" | "processes">,
  reviewId: string,
  body: Fields,
  principal: Principal,
): Promise<ReviewAppliedBody> {
  const { desk, audit } = board;
  if (!isAdmitted(principal, "reviewer"))
    throw new HttpRefusal(403, "FORBIDDEN", "Only reviewers and operators answer reviews");
  const decision = personalDecision(body, principal.name);
  const elsewhere = board.processes.of(reviewId);
  if (elsewhere !== undefined) {
    const applied = await answerInProcess(elsewhere, { user: userOf(principal), body });
    audit.add({
      user: principal.name,
      action: "review",
      subject: reviewId,
      detail: onWire(decision.type),
    });
    // The same route in that process returns this form.
    return applied as unknown as ReviewAppliedBody;
  }
  const known = await desk.find(reviewId);
  if (known === undefined) throw endedRefusal(desk.answerOf(reviewId));
  requireRole(known.review, principal);
  await requireFittingEdit(known.review, decision);
  const { outcome, review } = await known.store.resolve(reviewId, decision);
  if (outcome === "resolved") {
    audit.add({
      user: principal.name,
      action: "review",
      subject: reviewId,
      detail: onWire(decision.type),
    });
    return { reviewId, decision: onWire(decision.type), status: "APPLIED", by: principal.name };
  }
  throw endedRefusal(desk.answerOf(reviewId), outcome, review);
}

/** Returns the decision in lower case, as in requests. */
function onWire(decision: AnsweredReview["decision"]): string {
  return decision.toLowerCase();
}

/** Returns the decision in a body or frame. @throws HttpRefusal 400 */
function personalDecision(body: Fields, by: string): Decision {
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw badRequest(`Unknown field '${unknown}'. Known: ${FIELDS.join(", ")}.`);
  const { decision, revisedOutput, comment } = body;
  if (comment !== undefined && typeof comment !== "string")
    throw badRequest("comment must be a text");
  if ((comment?.length ?? 0) > MAX_COMMENT)
    throw badRequest(`comment must have at most ${MAX_COMMENT} characters`);
  const word = typeof decision === "string" ? decision.toLowerCase() : "";
  if (word === "edit") {
    if (typeof revisedOutput !== "string") throw badRequest("An edit needs a revisedOutput");
    return ReviewDecision.edit(revisedOutput, { by, comment });
  }
  if (revisedOutput !== undefined) throw badRequest("Only an edit has a revisedOutput");
  if (word === "approve" || word === "continue") return ReviewDecision.continue({ by, comment });
  if (word === "exit_early") return ReviewDecision.exitEarly({ by, comment });
  throw badRequest("decision must be approve, continue, edit or exit_early");
}

function requireRole({ requiredRole }: StoredReview, principal: Principal): void {
  if (requiredRole === undefined || hasReviewRole(principal, requiredRole)) return;
  throw new HttpRefusal(403, "ROLE_REQUIRED", `This review needs the role '${requiredRole}'`, {
    fields: { requiredRole },
  });
}

/**
 * Returns the reason why a review accepts no answer. `outcome` and `review` are those of its store.
 */
function endedRefusal(
  answered: AnsweredReview | undefined,
  outcome?: string,
  review?: StoredReview,
): HttpRefusal {
  if (outcome === "decided" || (answered !== undefined && isByPerson(answered)))
    return new HttpRefusal(409, "REVIEW_RESOLVED", "The review has an answer already", {
      fields: { ...reported(answered), ...storeDecision(review) },
    });
  if (outcome !== "over" && answered === undefined)
    return notFoundRefusal("REVIEW_NOT_FOUND", "There is no such review");
  return new HttpRefusal(410, "REVIEW_EXPIRED", "Its time is up, or its run has ended", {
    fields: reported(answered),
  });
}

/** Returns the answer of a review that a run has reported. */
function reported(answered: AnsweredReview | undefined): Fields {
  if (answered === undefined) return {};
  const { by, at, decision } = answered;
  return { by, at, decision: onWire(decision) };
}

/** Returns the decision in the form of a store. */
function storeDecision({ decision, decidedAt: at }: Partial<StoredReview> = {}): Fields {
  return decision === undefined ? {} : { by: decision.by, at, decision: onWire(decision.type) };
}

function isByPerson({ timedOut, decision }: AnsweredReview): boolean {
  return !timedOut && decision !== "FAIL";
}
