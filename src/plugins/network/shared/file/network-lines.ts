import type { QueueChange, QueueContent, QueueTable } from "../queue-table.js";
import type { KeptResult, LocalResults, ResultChange } from "../local-results.js";
import { isObject } from "../../../../util/objects.js";

// A file has a header line, then one line of JSON for each change. JSON escapes line breaks, so
// every change is exactly one line.

const FORMAT = "agentensemble-network";
const FORMAT_VERSION = 1;

export const HEADER_LINE = `${JSON.stringify({ format: FORMAT, version: FORMAT_VERSION })}\n`;

/** Changes of a queue, and its content in a compacted file. */
type QueueLine = (QueueChange | (QueueContent & { readonly op: "content" })) & {
  readonly queue: string;
};
type Line = QueueLine | ResultChange;

/**
 * Returns the line of a change. Returns an empty text for a change that is not persisted, such as a
 * renewal of a lease.
 */
export function queueLine(queue: string, change: QueueChange): string {
  if (change.op === "extend") return "";
  if (change.op !== "lease") return `${JSON.stringify({ queue, ...change })}\n`;
  // Only the delivery is persisted, because the lease ends with the process.
  return `${JSON.stringify({ queue, op: "lease", id: change.id, token: "", until: 0 })}\n`;
}

export function lineOfResult(change: ResultChange): string {
  return `${JSON.stringify(change)}\n`;
}

/** The state of a backend in its file. */
export interface NetworkState {
  tableOf(queue: string): QueueTable;
  readonly tables: ReadonlyMap<string, QueueTable>;
  readonly results: LocalResults;
}

/**
 * Yields the lines of a compacted file. The state is read at once. Each line is created on demand.
 */
export function compactedLines({ tables, results }: NetworkState): Iterable<string> {
  const queues = [...tables].map(
    ([queue, table]) => [queue, [...table.contents()]] as const satisfies readonly unknown[],
  );
  const kept = [...results.contents()];
  return contentLines(queues, kept);
}

function* contentLines(
  queues: readonly (readonly [string, readonly QueueContent[]])[],
  results: readonly KeptResult[],
): Generator<string> {
  yield HEADER_LINE;
  for (const [queue, contents] of queues)
    for (const content of contents)
      yield `${JSON.stringify({ queue, op: "content", ...content })}\n`;
  for (const result of results) yield lineOfResult({ op: "result", ...result });
}

/** Applies the change of a line. Returns its instant, or 0. @throws Error for other text. */
export function applyLine(text: string, state: NetworkState): number {
  const line = changeIn(text);
  if (line.op === "result" || line.op === "forget") {
    state.results.apply(line);
    return 0;
  }
  const table = state.tableOf(line.queue);
  if (line.op !== "content") {
    table.apply(line);
    return "at" in line ? line.at : 0;
  }
  table.restore(line);
  return line.kind === "entry" ? line.acceptedAt : 0;
}

const OPS = new Set(
  ["content", "accept", "lease", "release", "done", "dead", "redrive"].concat("result", "forget"),
);

function changeIn(text: string): Line {
  const line = parsedJson(text);
  const isResult = line["op"] === "result" || line["op"] === "forget";
  if (!OPS.has(String(line["op"])) || (!isResult && typeof line["queue"] !== "string"))
    throw new Error("is not a change of a queue or of results");
  return line as unknown as Line; // written by this module, as `op` shows
}

/**
 * Checks the header.
 * @throws Error unless the text is the header of such a file, in this version.
 */
export function checkHeader(text: string): void {
  const header = parsedJson(text);
  if (header["format"] !== FORMAT) throw new Error("is not the header of a network file");
  if (header["version"] !== FORMAT_VERSION)
    throw new Error(
      `is of form ${String(header["version"])}; this version supports ${FORMAT_VERSION}`,
    );
}

function parsedJson(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("is not JSON"); // the message of the parser would reveal the content
  }
  if (!isObject(value)) throw new Error("is not an object");
  return value;
}
