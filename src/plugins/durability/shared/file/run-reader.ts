import type { FileHandle } from "node:fs/promises";
import type { JournalEntryKind, KeptEntry } from "../../../../contracts/journal.js";
import { JournalError } from "../../../../contracts/journal-errors.js";
import { messageOf } from "../../../../util/errors.js";
import { eachLine } from "../../../../util/files/lines.js";
import { EntryTable } from "./entry-table.js";
import type { ClaimLine, EndLine, HeadLine, KeptLine } from "./run-lines.js";
import { readHeadLine, readRunLine } from "./run-lines.js";

/** The kinds that the entry of a finished task may cover. */
const COVERED: ReadonlySet<JournalEntryKind> = new Set(["call", "tool", "intent", "memory"]);

/** The contents of the file of a run. */
export interface RunContents {
  readonly head: HeadLine;
  readonly entries: ReadonlyMap<string, KeptEntry>;
  readonly table: EntryTable;
  readonly claim: ClaimLine | undefined;
  /** The last end, unless a claim follows it. */
  readonly end: EndLine | undefined;
  readonly executions: number;
  /** Whether an entry follows the last claim. */
  readonly grew: boolean;
  /**
   * Number of bytes up to the end of the last complete line. The write of later bytes was not
   * acknowledged.
   */
  readonly size: number;
}

/** Returns the error of an invalid line. The file is not changed. */
export function lineError(path: string, line: number | "last", cause: unknown): JournalError {
  const what = line === "last" ? "The last line" : `Line ${line}`;
  return new JournalError(`${what} of ${path} ${messageOf(cause)}`, {
    cause,
    hint: "The file was not changed. Put back a copy of it, or remove it to give up the run.",
  });
}

/** Parses line by line. */
class LineTaker {
  readonly entries = new Map<string, KeptEntry>();
  readonly table = new EntryTable();
  head: HeadLine | undefined;
  claim: ClaimLine | undefined;
  end: EndLine | undefined;
  executions = 0;
  grew = false;
  readonly #leavesOut: boolean;
  /** Entries that may be covered, by task. */
  readonly #coverable = new Map<string, Set<string>>();

  constructor(leavesOut: boolean) {
    this.#leavesOut = leavesOut;
  }

  take(text: string): void {
    if (this.head === undefined) this.head = readHeadLine(text);
    else this.#takeLine(readRunLine(text));
  }

  #takeLine(line: Exclude<KeptLine, HeadLine>): void {
    if (line.line === "claim") {
      [this.claim, this.end, this.grew] = [line, undefined, false];
      this.executions = line.execution;
    } else if (line.line === "end") {
      this.end = line;
      this.executions = line.execution;
    } else {
      this.grew = true;
      this.#takeEntry(line.entry, line.line === "amend");
    }
  }

  #takeEntry(entry: KeptEntry, isAmended: boolean): void {
    const taken = this.table.take(entry, isAmended);
    if (taken === undefined) return;
    for (const gone of taken.gone) this.entries.delete(gone);
    this.entries.set(entry.key, entry);
    if (this.#leavesOut) this.#leaveOut(entry);
  }

  #leaveOut({ key, kind, task, covers }: KeptEntry): void {
    if (COVERED.has(kind)) {
      const keys = this.#coverable.get(task) ?? new Set();
      this.#coverable.set(task, keys.add(key));
    } else if (kind === "task" && covers === true) {
      for (const covered of this.#coverable.get(task) ?? [])
        if (COVERED.has(this.entries.get(covered)?.kind ?? "task")) this.entries.delete(covered);
      this.#coverable.delete(task);
    }
  }
}

/**
 * Reads a file in parts, so that other work can continue. With `leavesOut`, skips entries that the
 * entry of their finished task covers.
 * @throws JournalError for an invalid line, except an incomplete line at the end; errors of the
 * file system.
 */
export async function readRun(
  file: FileHandle,
  path: string,
  leavesOut: boolean,
): Promise<RunContents> {
  const taker = new LineTaker(leavesOut);
  let line = 0;
  const size = await eachLine(file, ({ text }) => {
    line++;
    try {
      taker.take(text);
    } catch (cause) {
      throw lineError(path, line, cause);
    }
  });
  const { head, ...contents } = taker;
  if (head === undefined) throw lineError(path, 1, new Error("is cut off"));
  return { ...contents, head, size };
}
