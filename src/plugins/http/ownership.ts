import { createHash } from "node:crypto";
import type { Principal } from "../../contracts/http-route.js";

/** The tag of a run that contains its owner. */
export const OWNER_TAG = "owner";

/**
 * Identifies the owner of the work of a principal without revealing it: its `owner`, otherwise its
 * name.
 */
export function ownerTagOf({ owner, name }: Principal): string {
  const identity = owner === undefined ? ["name", name] : ["owner", owner];
  return createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 32);
}
