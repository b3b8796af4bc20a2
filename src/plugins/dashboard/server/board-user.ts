import type { Principal } from "../../../contracts/http-route.js";
import type { BoardUser } from "../protocol/messages.js";

/** Returns the data that users may see about themselves. */
export function userOf({ name, role, reviewRoles }: Principal): BoardUser {
  return { name, role, ...(reviewRoles !== undefined && { reviewRoles }) };
}
