import { createHash } from "node:crypto";

/** How many characters of a file's SHA-256 hash models are shown: enough to tell versions apart, and few tokens. */
export const HASH_LENGTH = 16;

/** The hash of a file's content as models see it. */
export function fileHash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, HASH_LENGTH);
}

/** Whether a hash that somebody was given, or the whole of it, is that of a content. */
export function matchesHash(bytes: Uint8Array, expected: string): boolean {
  const hash = expected.trim().toLowerCase();
  return (
    hash.length >= HASH_LENGTH && createHash("sha256").update(bytes).digest("hex").startsWith(hash)
  );
}
