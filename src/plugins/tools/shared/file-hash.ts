import { createHash } from "node:crypto";

/**
 * Number of characters of a SHA-256 hash shown to models: enough to distinguish versions at a low
 * token cost.
 */
export const HASH_LENGTH = 16;

/** Returns the hash of a file's content in its form for models. */
export function fileHash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, HASH_LENGTH);
}

/** Whether a full or shortened hash matches a content. */
export function matchesHash(bytes: Uint8Array, expected: string): boolean {
  const hash = expected.trim().toLowerCase();
  return (
    hash.length >= HASH_LENGTH && createHash("sha256").update(bytes).digest("hex").startsWith(hash)
  );
}
