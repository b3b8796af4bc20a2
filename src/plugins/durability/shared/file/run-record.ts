import type { FileHandle } from "node:fs/promises";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { KeptRun } from "../../../../contracts/journal.js";
import { codeOf } from "../../../../util/objects.js";
import type { ClaimLine, EndLine, HeadLine, RunPosition } from "./run-lines.js";
import { readHeadLine, readRunLine } from "./run-lines.js";
import { lineError } from "./run-reader.js";

const BLOCK_BYTES = 16 << 10;
const LINE_FEED = 10;

/** Where a run stands, without its entries. */
export interface RunState {
  readonly head: HeadLine;
  readonly claim: ClaimLine | undefined;
  readonly end: EndLine | undefined;
  readonly executions: number;
  readonly finishedTasks: number;
}

/** The run as it is kept, but for its owner and a cancellation that was asked for. */
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

/** Opens a run's file; `undefined` where there is none. A symbolic link in its place is not followed. */
export async function openRunFile(
  path: string,
  access: "read" | "write",
): Promise<FileHandle | undefined> {
  const { O_RDONLY, O_RDWR } = constants;
  const noFollow = (constants as { readonly O_NOFOLLOW?: number }).O_NOFOLLOW ?? 0; // Windows has none
  try {
    return await open(path, (access === "read" ? O_RDONLY : O_RDWR) | noFollow);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Reads where a run stands from the first and the last line of its file, and the line of the claim, whatever lies between. `undefined` where there is none.
 * @throws JournalError for a line that is none; what the file system throws.
 */
export async function readRunState(path: string): Promise<RunState | undefined> {
  const file = await openRunFile(path, "read");
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const first = parsed(path, 1, readHeadLine, await lineAt(file, 0));
    const last = await lastLine(file, size);
    const line = last === undefined ? undefined : parsed(path, "last", readRunLine, last);
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

/** The line that begins at a position, without its end. */
async function lineAt(file: FileHandle, position: number): Promise<string> {
  const blocks: Buffer[] = [];
  for (let at = position; ; at += BLOCK_BYTES) {
    const block = await blockAt(file, at, BLOCK_BYTES);
    const end = block.indexOf(LINE_FEED);
    blocks.push(end === -1 ? block : block.subarray(0, end));
    if (end !== -1 || block.length === 0) return Buffer.concat(blocks).toString("utf8");
  }
}

/** The last whole line behind the first one. */
async function lastLine(file: FileHandle, size: number): Promise<string | undefined> {
  let tail: Buffer = Buffer.alloc(0);
  for (let start = size, step = BLOCK_BYTES; start > 0; step *= 2) {
    const from = Math.max(0, start - step);
    tail = Buffer.concat([await blockAt(file, from, start - from), tail]);
    start = from;
    const end = tail.lastIndexOf(LINE_FEED);
    const before = end < 1 ? -1 : tail.lastIndexOf(LINE_FEED, end - 1);
    if (before !== -1) return tail.subarray(before + 1, end).toString("utf8");
  }
  return undefined;
}

async function blockAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const block = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(block, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return block.subarray(0, filled);
}
