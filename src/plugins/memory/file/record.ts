import type { MemoryEntry } from "../../../contracts/memory.js";
import type { EntryData } from "../shared/frozen-entry.js";
import type { ScopeChange, ScopeTable, VersionRange } from "./scope-table.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { checkEntry } from "../shared/checks.js";
import { entryFromData, entryJson } from "../shared/frozen-entry.js";
import { isObject } from "../../../util/objects.js";

// A file has a header line, then one line of JSON for each change of a scope. JSON escapes line
// breaks, so every record is exactly one line.

const FORMAT = "agentensemble-memory";
const FORMAT_VERSION = 1;

export const HEADER_LINE = `${JSON.stringify({ format: FORMAT, version: FORMAT_VERSION })}\n`;

/** Returns the line of a new entry from the entry's JSON. */
export function storeLine(scope: string, version: number, json: string): string {
  return `{"op":"store","scope":${JSON.stringify(scope)},"version":${version},"entry":${json}}\n`;
}

/** Returns the line of a change without an entry. */
export function changeLine({
  op,
  scope,
  version,
  ...rest
}: Exclude<ScopeChange, { readonly op: "store" }>): string {
  return `${JSON.stringify({ op, scope, version, ...rest })}\n`;
}

/** Returns the content of a table as the lines of a compacted file. */
export function* linesOfTable(table: ScopeTable): Generator<string> {
  yield HEADER_LINE;
  for (const [scope, { version, entries }] of table.all()) {
    for (const kept of entries) yield storeLine(scope, kept.version, entryJson(kept.entry));
    if (entries.at(-1)?.version !== version) yield changeLine({ op: "version", scope, version });
  }
}

/** @throws ValidationError describing the problem with the header of a file */
export function checkLogHeader(value: unknown): void {
  const header = isObject(value) ? value : {};
  if (header["format"] !== FORMAT)
    throw new ValidationError("is not a memory file of AgentEnsemble");
  if (header["version"] !== FORMAT_VERSION) {
    throw new ValidationError(
      `is of form ${preview(header["version"])}, of another version of AgentEnsemble; this version supports form ${FORMAT_VERSION}`,
    );
  }
}

/**
 * Parses the change that a line describes. File content is validated like any external input.
 * @throws ValidationError describing the problem
 */
export function readRecord(value: unknown, bytes: number, table: ScopeTable): ScopeChange {
  if (!isObject(value)) throw new ValidationError("is not a record");
  const { op, scope, version } = value;
  if (typeof scope !== "string" || !isVersion(version))
    throw new ValidationError("has no scope or no version");
  const known = table.view(scope).version;
  if (version <= known)
    throw new ValidationError(
      `has version ${version} of scope '${preview(scope)}', behind its version ${known}`,
    );
  if (op === "store") return { op, scope, version, entry: readEntry(value["entry"]), bytes };
  if (op === "clear" || op === "version") return { op, scope, version };
  if (op === "drop" && isRanges(value["dropped"]))
    return { op, scope, version, dropped: value["dropped"] };
  throw new ValidationError(`has an unknown or incomplete operation: ${preview(op)}`);
}

function readEntry(value: unknown): MemoryEntry {
  if (!isObject(value)) throw new ValidationError("has no entry");
  const { content, structuredContent, storedAt, metadata } = value;
  if (typeof storedAt !== "string") throw new ValidationError("has an entry without storedAt");
  const data = {
    content,
    storedAt,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  const entry = entryFromData(data as EntryData); // validated in the next line
  checkEntry(entry);
  return entry;
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0; // the first operand ensures a number
}

function isRanges(value: unknown): value is readonly VersionRange[] {
  return (
    Array.isArray(value) &&
    value.every((range) => Array.isArray(range) && range.length === 2 && range.every(isVersion))
  );
}
