import type { MemoryEntry } from "../../../contracts/memory.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkEntry } from "./checks.js";
import { deepFreeze } from "../../../util/objects.js";
import { messageOf } from "../../../util/errors.js";

/** The entry as JSON knows it: the form in which it is copied, and kept in files and databases. */
export interface EntryData {
  readonly content: string;
  readonly structuredContent?: unknown;
  /** ISO 8601, in milliseconds. */
  readonly storedAt: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * The JSON text of an entry's four fields; others are left out.
 * @throws ValidationError for an unsound entry, and for structured content that is not JSON (a cycle, a BigInt, a function).
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

/** The entry that {@link entryJson} describes, frozen through and through. The text was checked when it was made. */
export function entryFromData(data: EntryData): MemoryEntry {
  const { storedAt, ...rest } = data;
  return deepFreeze({ ...rest, storedAt: new Date(storedAt) });
}

/** A copy of the caller's entry that later changes don't reach, frozen through and through. Throws as {@link entryJson} does. */
export function frozenEntry(entry: MemoryEntry): MemoryEntry {
  return entryFromData(JSON.parse(entryJson(entry)) as EntryData); // made one line above
}

/** The same entry for a reader: a Date can be changed even where it is frozen, so each reader gets one of his own. */
export function handedOut(entry: MemoryEntry): MemoryEntry {
  return Object.freeze({ ...entry, storedAt: new Date(entry.storedAt) });
}
