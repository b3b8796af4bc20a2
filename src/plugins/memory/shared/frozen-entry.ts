import type { MemoryEntry } from "../../../contracts/memory.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkEntry } from "./checks.js";
import { deepFreeze } from "../../../util/objects.js";
import { messageOf } from "../../../util/errors.js";

/** The entry in JSON form, for copies, files and databases. */
export interface EntryData {
  readonly content: string;
  readonly structuredContent?: unknown;
  /** ISO 8601 with milliseconds. */
  readonly storedAt: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * Returns the JSON text of an entry's four fields. Other fields are omitted.
 * @throws ValidationError for an invalid entry, and for structured content that is not JSON (a
 * cycle, a BigInt, a function)
 */
export function entryJson(entry: MemoryEntry): string {
  checkEntry(entry);
  const { content, structuredContent, storedAt, metadata } = entry;
  const isAbsent = structuredContent === undefined;
  let structured: string | undefined;
  try {
    structured = isAbsent ? undefined : JSON.stringify(structuredContent);
  } catch (error) {
    throw new ValidationError(`entry structuredContent must be JSON: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (structured === undefined && !isAbsent)
    throw new ValidationError(
      `entry structuredContent must be JSON, got: a ${typeof structuredContent}`,
    );
  const rest = JSON.stringify({
    content,
    storedAt: storedAt.toISOString(),
    ...(metadata === undefined ? {} : { metadata }),
  });
  return structured === undefined
    ? rest
    : `${rest.slice(0, -1)},"structuredContent":${structured}}`;
}

/**
 * Returns the deeply frozen entry that {@link entryJson} describes. The text was validated when it
 * was written.
 */
export function entryFromData(data: EntryData): MemoryEntry {
  const { storedAt, ...rest } = data;
  return deepFreeze({ ...rest, storedAt: new Date(storedAt) });
}

/**
 * Returns a deeply frozen copy of the caller's entry, independent of later changes. Throws as
 * {@link entryJson} does.
 */
export function frozenEntry(entry: MemoryEntry): MemoryEntry {
  // serialised in the same expression
  return entryFromData(JSON.parse(entryJson(entry)) as EntryData);
}

/**
 * Returns the entry for a reader. A Date is mutable even if it is frozen, so each reader gets a
 * separate one.
 */
export function handedOut(entry: MemoryEntry): MemoryEntry {
  return Object.freeze({ ...entry, storedAt: new Date(entry.storedAt) });
}
