import type { Principal } from "../../contracts/http-route.js";
import type { StoredReview } from "../../contracts/review.js";

/** Knows which runs a principal started; a handler of runs does. */
export interface RunOwnership {
  startedBy(runId: string, principal: Principal): boolean;
}

type Asked = Pick<StoredReview, "runId" | "requiredRole">;

/** What a principal may do with reviews. */
export class ReviewAccess {
  readonly #runs: readonly RunOwnership[];

  constructor(runs: readonly RunOwnership[]) {
    this.#runs = runs;
  }

  /** Operators see every review, others those of their runs, those whose role they have, and reviewers without an owner those that need no role. */
  sees(review: Asked, principal: Principal): boolean {
    const { role, owner } = principal;
    if (role === "operator" || hasRole(review, principal)) return true;
    if (this.#runs.some((runs) => runs.startedBy(review.runId, principal))) return true;
    return role === "reviewer" && owner === undefined && review.requiredRole === undefined;
  }

  /** Whether a principal that sees a review may answer it: where that needs no role, or the principal has the role. */
  mayAnswer(review: Asked, principal: Principal): boolean {
    if (principal.role === "operator" || review.requiredRole === undefined) return true;
    return hasRole(review, principal);
  }
}

function hasRole({ requiredRole }: Asked, { reviewRoles = [] }: Principal): boolean {
  return requiredRole !== undefined && reviewRoles.includes(requiredRole);
}
