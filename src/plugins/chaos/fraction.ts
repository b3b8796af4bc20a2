import { createHash } from "node:crypto";

/** Returns a number from 0 to 1 that depends only on the text. */
export function fraction(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 32;
}
