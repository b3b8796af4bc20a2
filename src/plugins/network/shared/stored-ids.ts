import { createHash } from "node:crypto";

/** The length of the part of an id that identifies its caller. */
const CALLER_LENGTH = 16;

/**
 * Returns the id under which an external request is stored. It contains the caller, so that no
 * caller can use the request of another caller by its key.
 */
export function storedIdOf(caller: string, key: string): string {
  return `${callerPart(caller)}-${hexDigest(JSON.stringify([caller, key]))}`;
}

/** Returns whether a caller has sent the request with this stored id. */
export function isStoredFor(caller: string, storedId: string): boolean {
  return storedId.startsWith(`${callerPart(caller)}-`);
}

function callerPart(caller: string): string {
  return hexDigest(caller).slice(0, CALLER_LENGTH);
}

function hexDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
