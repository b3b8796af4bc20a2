import { createHash } from "node:crypto";
import type { Principal } from "../../contracts/http-route.js";

/** The tag of a run under which its owner stands. */
export const OWNER_TAG = "owner";

/** Names the owner of what a principal starts, without showing who that is: its `owner`, else its name. */
export function ownerTagOf({ owner, name }: Principal): string {
  const identity = owner === undefined ? ["name", name] : ["owner", owner];
  return createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 32);
}
