import type { KeptRun } from "../../../../contracts/journal.js";
import { lastLine, lineAt } from "../../../../util/files/lines.js";
import { openFileAt } from "../../../../util/files/open-file.js";
import type { ClaimLine, EndLine, HeadLine, RunPosition } from "./run-lines.js";
import { readHeadLine, readRunLine } from "./run-lines.js";
import { lineError } from "./run-reader.js";

/** The state of a run, without its entries. */
export interface RunState {
  readonly head: HeadLine;
  readonly claim: ClaimLine | undefined;
  readonly end: EndLine | undefined;
  readonly executions: number;
  readonly finishedTasks: number;
}

/** Returns the stored run, without its owner and a requested cancellation. */
export function recordOf({ head, claim, end, executions, finishedTasks }: RunState): KeptRun {
  return {
    ...head.start,
    status: end?.status ?? "running",
    startedAt: head.at,
    updatedAt: (end ?? claim ?? head).at,
    executions,
    fruitlessExecutions: end === undefined ? (claim?.fruitless ?? 0) : 0,
    finishedTasks,
    ...(end?.waitsFor !== undefined && { waitsFor: end.waitsFor }),
    ...(end?.result !== undefined && { result: end.result }),
    ...(end?.cancelReason !== undefined && { cancelReason: end.cancelReason }),
  };
}

/**
 * Reads the state of a run from its file. Reads the first line, the last line and the line of the
 * claim. Returns `undefined` without a file.
 * @throws JournalError for an invalid line; errors of the file system.
 */
export async function readRunState(path: string): Promise<RunState | undefined> {
  const file = await openFileAt(path, "read");
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const first = parsed(path, 1, readHeadLine, await lineAt(file, 0));
    const last = await lastLine(file, size);
    const line =
      last === undefined || last.start === 0
        ? undefined
        : parsed(path, "last", readRunLine, last.text);
    const place: RunPosition = line ?? { execution: 0, tasks: 0 };
    const state = { head: first, executions: place.execution, finishedTasks: place.tasks };
    if (line?.line === "end") return { ...state, claim: undefined, end: line };
    if (place.claim === undefined) return { ...state, claim: undefined, end: undefined };
    const claim = parsed(path, "last", readRunLine, await lineAt(file, place.claim));
    if (claim.line !== "claim") throw lineError(path, "last", new Error("names no claim"));
    return { ...state, claim, end: undefined };
  } finally {
    await file.close();
  }
}

function parsed<T>(path: string, line: 1 | "last", read: (text: string) => T, text: string): T {
  try {
    return read(text);
  } catch (cause) {
    throw lineError(path, line, cause);
  }
}
