import type { EvictionPolicy, MemoryEntry } from "../../../contracts/memory.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireDuration,
  requireText,
} from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";

// What every memory store checks before it does anything. All of these throw ValidationError.

/** Time to wait for the lock of a scope unless the caller says otherwise. */
const LOCK_TIMEOUT_MS = 30_000;

/** The greatest number of scopes, results and versions that JavaScript counts exactly. */
const isCount = (value: unknown, min: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= min; // an integer, says the first half

export function checkScope(scope: string): void {
  requireText(scope, "scope must not be null or blank");
}

/** Checks the entry's own fields; whether `structuredContent` is JSON shows when it is copied. */
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

/** Checks what `withLock` was given; gives the time to wait for the lock. */
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
 * The entries that a policy keeps, as a mask over those it was given. What it keeps keeps its order, whatever order it is given back in.
 * Throws what the policy throws, and ValidationError for a result that is no array of entries that the policy was given.
 */
export function keptBy(
  policy: EvictionPolicy,
  entries: readonly MemoryEntry[],
): readonly boolean[] {
  const indices = new Map(entries.map((entry, index) => [entry, index]));
  const kept: unknown = policy.apply(Object.freeze([...entries]));
  if (!Array.isArray(kept))
    throw new ValidationError(
      `policy must give back an array of the entries to keep, at once, got: ${preview(kept)}`,
    );
  const mask = entries.map(() => false);
  for (const entry of kept as readonly MemoryEntry[]) {
    const index = indices.get(entry);
    if (index === undefined)
      throw new ValidationError(
        `policy must give back entries that it was given, got: ${preview(entry)}`,
      );
    mask[index] = true;
  }
  return mask;
}
