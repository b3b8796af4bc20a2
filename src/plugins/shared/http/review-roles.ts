import type { Principal } from "../../../contracts/http-route.js";

/** Returns whether the principal has the role. `"*"` in `reviewRoles` stands for all roles. */
export function hasReviewRole({ reviewRoles = [] }: Principal, role: string): boolean {
  return reviewRoles.includes("*") || reviewRoles.includes(role);
}
