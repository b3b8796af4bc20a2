import type { EvictionPolicy, MemoryEntry } from "../../../contracts/memory.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireDuration,
  requireText,
} from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";

// Checks that every memory store makes before an operation. All of them throw ValidationError.

/** Default time limit for waiting for the lock of a scope. */
const LOCK_TIMEOUT_MS = 30_000;

/** Returns whether a value is an integer that JavaScript represents exactly, and at least `min`. */
const isCount = (value: unknown, min: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= min; // the first operand ensures an integer

export function checkScope(scope: string): void {
  requireText(scope, "scope must not be null or blank");
}

/**
 * Validates the entry's own fields. Copying the entry shows whether `structuredContent` is JSON.
 */
export function checkEntry(entry: MemoryEntry): void {
  if (entry === undefined || entry === null) throw new ValidationError("entry must not be null");
  if (typeof entry !== "object")
    throw new ValidationError(
      `entry must be an object with content and storedAt, got: ${preview(entry)}`,
    );
  checkContent(entry.content);
  checkStoredAt(entry.storedAt);
  checkMetadata(entry.metadata);
}

function checkContent(content: unknown): void {
  if (content === undefined || content === null)
    throw new ValidationError("entry content must not be null");
  if (typeof content !== "string")
    throw new ValidationError(`entry content must be a string, got: ${preview(content)}`);
}

function checkStoredAt(storedAt: unknown): void {
  if (!(storedAt instanceof Date) || Number.isNaN(storedAt.getTime())) {
    throw new ValidationError(
      `entry storedAt must be a valid Date, got: ${preview(storedAt instanceof Date ? "an invalid Date" : storedAt)}`,
    );
  }
}

function checkMetadata(metadata: unknown): void {
  if (metadata === undefined) return;
  if (!isObject(metadata)) {
    throw new ValidationError(
      `entry metadata must be an object of strings, got: ${preview(metadata)}`,
    );
  }
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== "string")
      throw new ValidationError(
        `entry metadata '${preview(key)}' must be a string, got: ${preview(value)}`,
      );
  }
}

export function checkMaxResults(maxResults: number): void {
  if (!isCount(maxResults, 1))
    throw new ValidationError(`maxResults must be > 0, got: ${preview(maxResults)}`);
}

export function checkPolicy(policy: EvictionPolicy): void {
  if (policy === undefined || policy === null) throw new ValidationError("policy must not be null");
  if (typeof policy.apply !== "function")
    throw new ValidationError(`policy must have an apply(entries) method, got: ${preview(policy)}`);
}

export function checkExpectedVersion(version: number): void {
  if (!isCount(version, 0))
    throw new ValidationError(
      `expectedVersion must be a whole number >= 0, got: ${preview(version)}`,
    );
}

/** Validates the arguments of `withLock`. Returns the time limit for the lock. */
export function checkLock(
  scope: string,
  work: unknown,
  options: { readonly timeoutMs?: number | undefined } = {},
): number {
  checkScope(scope);
  if (typeof work !== "function")
    throw new ValidationError(`work must be a function, got: ${preview(work)}`);
  checkOptions("withLock()", options, ["timeoutMs"]);
  requireDuration("withLock() timeoutMs", options.timeoutMs);
  return options.timeoutMs ?? LOCK_TIMEOUT_MS;
}

/**
 * Returns the entries that a policy keeps, as a mask over its input. Kept entries stay in their
 * original order. Throws the errors of the policy, and ValidationError if the result is not an
 * array of entries from the input.
 */
export function keptBy(
  policy: EvictionPolicy,
  entries: readonly MemoryEntry[],
): readonly boolean[] {
  const indices = new Map(entries.map((entry, index) => [entry, index]));
  const kept: unknown = policy.apply(Object.freeze([...entries]));
  if (!Array.isArray(kept))
    throw new ValidationError(
      `policy must return an array of the entries to keep, not a promise, got: ${preview(kept)}`,
    );
  const mask = entries.map(() => false);
  for (const entry of kept as readonly MemoryEntry[]) {
    const index = indices.get(entry);
    if (index === undefined)
      throw new ValidationError(
        `policy must return only entries that it received, got: ${preview(entry)}`,
      );
    mask[index] = true;
  }
  return mask;
}
