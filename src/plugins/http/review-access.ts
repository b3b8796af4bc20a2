import type { Principal } from "../../contracts/http-route.js";
import type { StoredReview } from "../../contracts/review.js";
import { hasReviewRole } from "../shared/http/review-roles.js";

/** Knows the owners of runs. Handlers of runs implement this interface. */
export interface RunOwnership {
  /** Whether a principal with the same owner started the run. The default of `owner` is `name`. */
  startedBy(runId: string, principal: Principal): boolean;
}

type Asked = Pick<StoredReview, "runId" | "requiredRole">;

/** The access rules of reviews. */
export class ReviewAccess {
  readonly #runs: readonly RunOwnership[];

  constructor(runs: readonly RunOwnership[]) {
    this.#runs = runs;
  }

  /**
   * Returns whether a principal may see a review. Operators may see every review. Other principals
   * may see reviews of their runs and of their roles. Reviewers without an owner may also see
   * reviews without a required role.
   */
  sees(review: Asked, principal: Principal): boolean {
    const { role, owner } = principal;
    if (role === "operator" || hasRole(review, principal)) return true;
    if (this.#runs.some((runs) => runs.startedBy(review.runId, principal))) return true;
    return role === "reviewer" && owner === undefined && review.requiredRole === undefined;
  }

  /**
   * Returns whether a principal that may see a review may answer it. The principal must have the
   * role that the review requires.
   */
  mayAnswer(review: Asked, principal: Principal): boolean {
    if (principal.role === "operator" || review.requiredRole === undefined) return true;
    return hasRole(review, principal);
  }
}

function hasRole({ requiredRole }: Asked, principal: Principal): boolean {
  return requiredRole !== undefined && hasReviewRole(principal, requiredRole);
}
