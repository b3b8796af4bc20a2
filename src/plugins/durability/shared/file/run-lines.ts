import type { ClaimEnd, JournalEntry, KeptEntry, RunStart } from "../../../../contracts/journal.js";
import { asFields, type Fields } from "../../../../util/objects.js";

/** The version of the format of run files. Other versions are refused. */
const VERSION = 1;
const FORMAT = "agentensemble/run";

/**
 * The state of a run. Each line but the first has it, so that the last line has the current state.
 */
export interface RunPosition {
  readonly execution: number;
  /** Number of finished tasks. */
  readonly tasks: number;
  /** The position of the line of the current claim. Absent while no process executes the run. */
  readonly claim?: number | undefined;
}

/** The first line of a file. */
export interface HeadLine {
  readonly line: "head";
  readonly start: RunStart;
  readonly at: string;
}

/** The start of an execution. */
export interface ClaimLine extends RunPosition {
  readonly line: "claim";
  readonly owner: string;
  readonly leaseMs: number;
  readonly fruitless: number;
  /**
   * Identifies processes that can look up each other's process ids. These are the processes of one
   * host or container since its start.
   */
  readonly space: string;
  readonly at: string;
}

/** The end of an execution, or another change of the status. */
export interface EndLine extends RunPosition, ClaimEnd {
  /** Whether the file lacks the calls that finished tasks cover. */
  readonly isCompact?: true;
  readonly line: "end";
  /** Only of a cancelled run. */
  readonly cancelReason?: string | undefined;
  readonly at: string;
}

/** An entry, or one that replaces another. */
export interface EntryLine extends RunPosition {
  readonly line: "entry" | "amend";
  readonly entry: KeptEntry;
}

export type KeptLine = HeadLine | ClaimLine | EndLine | EntryLine;

const STATUSES: ReadonlySet<unknown> = new Set([
  "waiting",
  "interrupted",
  "completed",
  "failed",
  "cancelled",
]);
const KINDS: ReadonlySet<unknown> = new Set(
  "task failed call intent tool memory review step change redo".split(" "),
);

export function headLine(start: RunStart, at: string): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, run: start, at })}\n`;
}

export function statusLine(line: ClaimLine | EndLine): string {
  return `${JSON.stringify(line)}\n`;
}

/**
 * Returns an entry as JSON. This is the part of its line that does not depend on the time of
 * writing.
 */
export function entryPart({ key, kind, task, hash, covers, value }: JournalEntry): string {
  return JSON.stringify({ kind, task, key, hash, covers, value });
}

export function entryLine(place: RunPosition, at: string, json: string, isAmended = false): string {
  const { execution, tasks, claim } = place;
  const line = isAmended ? "amend" : undefined;
  return `${JSON.stringify({ line, execution, tasks, claim, at }).slice(0, -1)},${json.slice(1)}\n`;
}

/** @throws Error with the problem of the line. */
export function readHeadLine(text: string): HeadLine {
  const { format, version, run, at } = fieldsIn(text);
  if (format !== FORMAT) throw new Error("is not the first line of a run");
  if (version !== VERSION) throw new Error(`has version ${String(version)}, not ${VERSION}`);
  const { runId, ensemble, tags } = asFields(run) ?? {};
  requireAll(isText(runId) && isText(ensemble) && asFields(tags) !== undefined && isText(at));
  return { line: "head", start: run as RunStart, at: at as string }; // checked above
}

/** @throws Error with the problem of the line. */
export function readRunLine(text: string): Exclude<KeptLine, HeadLine> {
  const fields = fieldsIn(text);
  const { line, execution, tasks, claim, at } = fields;
  requireAll(isNumber(execution) && isNumber(tasks) && isText(at));
  requireAll(claim === undefined || isNumber(claim));
  if (line === "claim") {
    requireAll(isNumber(fields["fruitless"]) && isText(fields["owner"]) && isText(fields["space"]));
    return fields as unknown as ClaimLine; // checked above
  }
  if (line === "end") {
    requireAll(STATUSES.has(fields["status"]));
    return fields as unknown as EndLine; // checked above
  }
  requireAll(line === undefined || line === "amend");
  return readEntryLine(fields);
}

function readEntryLine(fields: Fields): EntryLine {
  const { line, execution, tasks, claim, at, key, kind, task, hash, covers, value } = fields;
  requireAll(isText(key) && isText(task) && KINDS.has(kind));
  const entry: Record<string, unknown> = { key, kind, task, value, at };
  if (hash !== undefined) entry["hash"] = hash;
  if (covers !== undefined) entry["covers"] = covers;
  entry["execution"] = Math.max(execution as number, 1); // the caller checks that it is a number
  const place = { execution, tasks, claim } as RunPosition; // checked by the caller
  return {
    line: line === "amend" ? line : "entry",
    ...place,
    entry: entry as unknown as KeptEntry,
  };
}

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => Number.isSafeInteger(value);

function requireAll(holds: boolean): void {
  if (!holds) throw new Error("lacks a field of its kind");
}

/**
 * Parses a line. The message of the parser is not used, because it would show the contents of the
 * file.
 */
function fieldsIn(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("is not JSON");
  }
  return asFields(value) ?? {};
}
