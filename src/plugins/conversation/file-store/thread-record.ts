import type { StoredTurn, ThreadHead } from "../../../contracts/conversation.js";
import type { FileLine } from "../../../util/files/lines.js";
import { FileFormatError } from "../../../contracts/state-errors.js";
import { isObject } from "../../../util/objects.js";

/** One change of a thread, as a line of its file. */
export interface ThreadRecord {
  readonly v: 1;
  /** The thread after the change. */
  readonly head: ThreadHead;
  /** The number of kept turns. */
  readonly kept: number;
  readonly turns: readonly StoredTurn[];
}

/** The position of a line. */
export interface LinePlace {
  readonly path: string;
  readonly threadId: string | undefined;
  /** Counts the lines before a position, for messages. */
  readonly lineOf: (position: number) => Promise<number>;
}

/** Reads a line. @throws FileFormatError for a line that this version did not write. */
export async function readRecord(line: FileLine, place: LinePlace): Promise<ThreadRecord> {
  const problem = { text: "" };
  const record = recordOf(line.text, place.threadId, problem);
  if (record !== undefined) return record;
  const number = await place.lineOf(line.start);
  throw new FileFormatError(
    `${place.path} line ${number}: ${problem.text}`,
    { path: place.path, line: number },
    { hint: "Other threads can be used. Mend the line, or delete the file to delete the thread." },
  );
}

function recordOf(
  text: string,
  threadId: string | undefined,
  problem: { text: string },
): ThreadRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    problem.text = "the line is not JSON";
    return undefined;
  }
  const { v, head, kept, turns } = isObject(value) ? (value as Partial<ThreadRecord>) : {};
  if (typeof v === "number" && v !== 1)
    problem.text = `the line has version ${String(v)}, and this program reads version 1`;
  else if (v !== 1 || !isObject(head) || !Array.isArray(turns) || !Number.isInteger(kept))
    problem.text = "the line is not a change of a thread";
  else if (threadId !== undefined && (head as ThreadHead).id !== threadId)
    problem.text = "the line belongs to another thread";
  else return value as ThreadRecord; // just checked
  return undefined;
}
