import type { FileHandle } from "node:fs/promises";
import { rm } from "node:fs/promises";
import type { LogEntry } from "../../../../contracts/run-store.js";
import { RunStoreError } from "../../../../contracts/state-errors.js";
import { writeFileOnce } from "../../../../util/files/write-once.js";
import { eachLine, lastLine, lineAt } from "../../../../util/files/lines.js";
import { openFileAt } from "../../../../util/files/open-file.js";
import { writeFully } from "../../../../util/files/write-fully.js";
import { parseJson } from "../../../../util/json/parse-json.js";
import { asFields } from "../../../../util/objects.js";

const FORMAT = "agentensemble/run-log";
const VERSION = 1;
/** Number of bytes between two remembered positions of a log. */
const STEP_BYTES = 256 << 10;

interface LogPlace {
  readonly n: number;
  readonly position: number;
}

/**
 * The log of one run in a file. It has a head with the id of the run, then one line for each entry,
 * in order. One process writes. Any number of processes read. A line that a crash cut off is
 * omitted.
 */
export class LogFile {
  readonly path: string;
  readonly runId: string;
  /**
   * The position of the next entry, and the number of the last entry. Unknown before the first
   * write, and after a failed write.
   */
  #end: LogPlace | undefined;
  /** Positions in the file, in order. They avoid reading it from the beginning. */
  #places: LogPlace[] = [];
  /** Identifies the file of `#places`. */
  #file = "";

  constructor(path: string, runId: string) {
    this.path = path;
    this.runId = runId;
  }

  /** Appends the entries that the log does not have. Writes nothing if it throws. */
  async append(entries: readonly LogEntry[]): Promise<void> {
    const file = await this.#openToWrite();
    try {
      const end = this.#end ?? (await this.#findEnd(file));
      this.#end = undefined;
      let last = end.n;
      let lines = "";
      for (const entry of entries) {
        if (entry.n <= last) continue;
        lines += `${JSON.stringify(numberFirst(entry))}\n`;
        last = entry.n;
      }
      const bytes = Buffer.from(lines);
      await writeFully(file, bytes, end.position).catch(async (error: unknown) => {
        await file.truncate(end.position).catch(() => undefined); // the next write truncates it
        throw error;
      });
      this.#end = { n: last, position: end.position + bytes.length };
    } finally {
      await file.close();
    }
  }

  /**
   * Returns at most `limit` entries after the number `after`. Returns `undefined` without a file.
   * @throws RunStoreError for an invalid line; errors of the file system.
   */
  async read(after: number, limit: number): Promise<readonly LogEntry[] | undefined> {
    const file = await openFileAt(this.path, "read");
    if (file === undefined) return undefined;
    try {
      await this.#checkHead(file);
      await this.#forgetOther(file);
      const entries: LogEntry[] = [];
      const from = this.#places.findLast(({ n }) => n <= after)?.position;
      if (limit > 0)
        await eachLine(
          file,
          ({ text, start, end }) => {
            if (start === 0) return undefined; // the head
            const n = this.#numberOf(text, start);
            this.#remember({ n, position: end });
            if (n > after) entries.push(this.#entryOf(text, start));
            return entries.length < limit;
          },
          from,
        );
      return entries;
    } finally {
      await file.close();
    }
  }

  async remove(): Promise<void> {
    this.#end = undefined;
    this.#places = [];
    await rm(this.path, { force: true });
  }

  async #openToWrite(): Promise<FileHandle> {
    const there = await openFileAt(this.path, "write");
    if (there !== undefined) return there;
    this.#end = undefined;
    await writeFileOnce(this.path, logHead(this.runId));
    const made = await openFileAt(this.path, "write");
    if (made === undefined) throw new Error(`${this.path} was removed`);
    return made;
  }

  /** Finds the last complete line, and truncates the rest. */
  async #findEnd(file: FileHandle): Promise<LogPlace> {
    await this.#checkHead(file);
    const { size } = await file.stat();
    const last = await lastLine(file, size);
    const position = last?.end ?? 0;
    if (position < size) await file.truncate(position);
    if (last === undefined || last.start === 0) return { n: -1, position };
    return { n: this.#numberOf(last.text, last.start), position };
  }

  async #checkHead(file: FileHandle): Promise<void> {
    const runId = runInHead(await lineAt(file, 0));
    if (runId === this.runId) return;
    throw new RunStoreError(
      runId === undefined
        ? `${this.path} is not a log of a run of version ${VERSION}`
        : `${this.path} is the log of another run`,
      { hint: "The file was not changed. Let no other program write into the folder." },
    );
  }

  /** Removes the positions of another file that was at the path before. */
  async #forgetOther(file: FileHandle): Promise<void> {
    const { dev, ino, birthtimeMs, size } = await file.stat();
    const id = `${dev}:${ino}:${birthtimeMs}`;
    if (id !== this.#file || size < (this.#places.at(-1)?.position ?? 0)) this.#places = [];
    this.#file = id;
  }

  #remember(place: LogPlace): void {
    if (place.position >= (this.#places.at(-1)?.position ?? 0) + STEP_BYTES)
      this.#places.push(place);
  }

  #numberOf(text: string, start: number): number {
    const first = /^\{"n":(\d{1,15})[,}]/.exec(text)?.[1];
    return first === undefined ? this.#entryOf(text, start).n : Number(first);
  }

  #entryOf(text: string, start: number): LogEntry {
    const entry = asFields(parseJson(text));
    const { n, at, type } = entry ?? {};
    if (Number.isSafeInteger(n) && typeof at === "string" && typeof type === "string")
      return entry as LogEntry; // checked above
    throw new RunStoreError(`${this.path} has no entry at byte ${start}`, {
      hint: "The file was not changed. Put back a copy of it, or remove the run.",
    });
  }
}

/**
 * Returns the entry with its number first, so that readers find the number without parsing the
 * line.
 */
function numberFirst({ n, ...rest }: LogEntry): LogEntry {
  return { n, ...rest };
}

function logHead(runId: string): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, runId })}\n`;
}

/** Returns the id in the head of a log. Returns `undefined` for any other line. */
function runInHead(head: string): string | undefined {
  const { format, version, runId } = asFields(parseJson(head)) ?? {};
  return format === FORMAT && version === VERSION && typeof runId === "string" ? runId : undefined;
}

/**
 * Returns the run id of a log file. Returns `undefined` for any other file.
 * @throws errors of the file system.
 */
export async function runOfLog(path: string): Promise<string | undefined> {
  const file = await openFileAt(path, "read");
  try {
    return file === undefined ? undefined : runInHead(await lineAt(file, 0));
  } finally {
    await file?.close();
  }
}
