import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import type { JournalEntry, RunStart } from "../../../../contracts/journal.js";
import { JournalError, RunFencedError } from "../../../../contracts/journal-errors.js";
import { DraftFile, writeFileAtomically } from "../../../../util/files/atomic-write.js";
import type { FileLock } from "../../../../util/files/file-lock.js";
import { openFileAt } from "../../../../util/files/open-file.js";
import { syncFolder } from "../../../../util/files/sync-folder.js";
import { writeFully } from "../../../../util/files/write-fully.js";
import { toError } from "../../../../util/errors.js";
import { systemClock } from "../../../../util/runtime.js";
import { EntryTable } from "./entry-table.js";
import { entryPart, entryLine, headLine, statusLine } from "./run-lines.js";
import type { EndLine, RunPosition } from "./run-lines.js";
import { readRun, type RunContents } from "./run-reader.js";

/** One batch is put together without a pause, so it is bounded; the next one begins at once. */
const BATCH_CHARACTERS = 4 << 20;
const COPY_BYTES = 1 << 20;

interface WaitingLine {
  /** Characters. */
  readonly size: number;
  /** Makes the line when its turn has come; `undefined` where there is nothing to write. */
  plan(): { readonly text: string; undo(): void } | undefined;
  resolve(): void;
  reject(error: Error): void;
}

/** A run that is not kept yet. */
interface NewRun {
  readonly start: RunStart;
  readonly at: string;
  /** With `waitsFor`: what is kept of it already. */
  readonly entries?: readonly JournalEntry[] | undefined;
  readonly waitsFor?: string | undefined;
}

interface OpenOptions {
  /** Entries that their finished tasks cover are not read. */
  readonly leavesOut: boolean;
  /** See `ClaimLine.space`. */
  readonly space: string;
  /** What is kept where there is no file. */
  readonly create?: NewRun | undefined;
  readonly missing?: (() => Error) | undefined;
}

interface OpenedRunFile {
  readonly file: RunFile;
  readonly contents: RunContents;
  readonly isNew: boolean;
}

/** A run's file in the hands of the one process that may write to it. What a method has written is on the disk when its promise resolves. */
export class RunFile {
  readonly runId: string;
  readonly path: string;
  readonly #lock: FileLock;
  readonly #file: FileHandle;
  readonly #table: EntryTable;
  #size: number;
  #execution: number;
  /** Where the line of the claim begins. */
  #claim: number | undefined;
  #waiting: WaitingLine[] = [];
  #writing: Promise<void> | undefined;
  /** A write failed and its bytes could not be cut off yet. */
  #isTorn = false;
  #isClosed = false;
  /** Where the next line of the present batch begins. */
  #nextAt = 0;

  private constructor(lock: FileLock, path: string, file: FileHandle, contents: RunContents) {
    this.runId = contents.head.start.runId;
    this.path = path;
    this.#lock = lock;
    this.#file = file;
    this.#table = contents.table;
    this.#size = contents.size;
    this.#execution = contents.executions;
    this.#claim = contents.end === undefined ? contents.claim?.claim : undefined;
    this.#isTorn = true; // what a crash may have left behind the last line
    lock.owner = this;
  }

  /**
   * Opens the file that a lock is for. The lock is given up with `close()`, or at once where this fails.
   * @throws the error of `missing` where there is no file; JournalError for a file of another form; what the file system throws.
   */
  static async opened(lock: FileLock, path: string, o: OpenOptions): Promise<OpenedRunFile> {
    try {
      const there = await openFileAt(path, "write");
      if (there !== undefined)
        return { ...(await RunFile.#read(lock, path, there, o)), isNew: false };
      if (o.create === undefined) throw o.missing?.() ?? new JournalError(`There is no ${path}`);
      await createRunFile(path, o.create);
      const made = await openFileAt(path, "write");
      if (made === undefined) throw new JournalError(`${path} was removed while it was made`);
      return { ...(await RunFile.#read(lock, path, made, o)), isNew: true };
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  static async #read(
    lock: FileLock,
    path: string,
    handle: FileHandle,
    o: OpenOptions,
  ): Promise<Omit<OpenedRunFile, "isNew">> {
    try {
      const contents = await readRun(handle, path, o.leavesOut);
      const { claim, end, size } = contents;
      const mayStillWrite = claim !== undefined && end === undefined && claim.space !== o.space;
      if (!mayStillWrite) return { file: new RunFile(lock, path, handle, contents), contents };
      const copy = await movedCopy(handle, path, size);
      await handle.close();
      return { file: new RunFile(lock, path, copy, contents), contents };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Whether the lock and the file are still this object's. */
  async isOurs(): Promise<boolean> {
    try {
      await this.#requireOurs();
      return true;
    } catch (error) {
      if (RunFencedError.isInstance(error) || JournalError.isInstance(error)) return false;
      throw error;
    }
  }

  /** Begins an execution. */
  async begin(o: {
    readonly owner: string;
    readonly leaseMs: number;
    readonly fruitless: number;
    readonly space: string;
    readonly at: string;
  }): Promise<void> {
    const execution = this.#execution + 1;
    await this.#write(200, () => {
      const before = [this.#execution, this.#claim] as const;
      [this.#execution, this.#claim] = [execution, this.#nextAt];
      const text = statusLine({ line: "claim", ...this.#place(), ...o });
      return { text, undo: () => void ([this.#execution, this.#claim] = before) };
    });
  }

  /** Writes an entry, unless its key is known. `replaces`: then, too. */
  async append(entry: JournalEntry, replaces = false): Promise<void> {
    const json = entryPart(entry);
    const { key, kind, task } = entry;
    const facts = { key, kind, task };
    await this.#write(json.length, () => {
      const taken = this.#table.take(facts, replaces);
      if (taken === undefined) return undefined;
      const text = entryLine(this.#place(), systemClock.now().toISOString(), json, replaces);
      return { text, undo: taken.undo };
    });
  }

  /** Ends the execution, or changes the status. */
  async end(end: Omit<EndLine, "line" | keyof RunPosition>): Promise<void> {
    const { status, waitsFor, result, cancelReason, at } = end;
    await this.#write(200, () => {
      const claim = this.#claim;
      this.#claim = undefined;
      const facts = { status, at, waitsFor, result, cancelReason };
      const text = statusLine({ line: "end", ...this.#place(), ...facts });
      return { text, undo: () => void (this.#claim = claim) };
    });
  }

  /** Writes what waits, closes the file and gives up the lock. */
  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.#file.close();
    } finally {
      await this.#lock.release();
    }
  }

  #place(): RunPosition {
    const claim = this.#claim;
    return { execution: this.#execution, tasks: this.#table.finished, ...(claim !== undefined && { claim }) }; // prettier-ignore
  }

  #write(size: number, plan: WaitingLine["plan"]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ size, plan, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // what else is written in this turn comes along
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      try {
        await this.#commit(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(toError(error));
      }
    }
    this.#writing = undefined;
  }

  #nextBatch(): readonly WaitingLine[] {
    let [count, characters] = [0, 0];
    for (const { size } of this.#waiting) {
      if (characters >= BATCH_CHARACTERS) break;
      characters += size;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  /** @throws RunFencedError, JournalError or what the file system throws; then the batch has changed nothing. */
  async #commit(batch: readonly WaitingLine[]): Promise<void> {
    await this.#requireOurs();
    const undos: (() => void)[] = [];
    const parts: Buffer[] = [];
    this.#nextAt = this.#size;
    try {
      for (const { plan } of batch) {
        const planned = plan();
        if (planned === undefined) continue;
        const bytes = Buffer.from(planned.text);
        undos.unshift(planned.undo);
        parts.push(bytes);
        this.#nextAt += bytes.length;
      }
      if (parts.length > 0) await this.#put(Buffer.concat(parts));
    } catch (error) {
      for (const undo of undos) undo();
      throw error;
    }
  }

  async #put(bytes: Buffer): Promise<void> {
    if (this.#isTorn) await this.#file.truncate(this.#size);
    this.#isTorn = true;
    try {
      await writeFully(this.#file, bytes, this.#size);
      // A process on another host that takes over copies the file after it has the lock: while the lock is ours, these bytes are in the copy.
      await Promise.all([this.#file.datasync(), this.#requireOurs()]);
    } catch (error) {
      await this.#file.truncate(this.#size).then(
        () => (this.#isTorn = false),
        () => undefined, // tried again before the next write
      );
      throw error;
    }
    this.#isTorn = false;
    this.#size += bytes.length;
  }

  async #requireOurs(): Promise<void> {
    if (this.#isClosed) throw new RunFencedError(this.runId);
    const [isHeld, { nlink }] = await Promise.all([this.#lock.isHeld(), this.#file.stat()]);
    // A process that takes over has the lock before it replaces the file, and both looks above were at one time.
    if (!isHeld || (nlink === 0 && !(await this.#lock.isHeld())))
      throw new RunFencedError(this.runId);
    if (nlink === 0)
      throw new JournalError(`${this.path} was removed while its run was executed`, {
        hint: "Nothing more can be kept of this execution. Let no other program change the folder.",
      });
  }
}

/** Makes the file of a run, whole or not at all. */
async function createRunFile(
  path: string,
  { start, at, entries = [], waitsFor }: NewRun,
): Promise<void> {
  const table = new EntryTable();
  const lines = [headLine(start, at)];
  const place = (): RunPosition => ({ execution: 0, tasks: table.finished });
  for (const entry of entries)
    if (table.take(entry) !== undefined) lines.push(entryLine(place(), at, entryPart(entry)));
  if (waitsFor !== undefined)
    lines.push(statusLine({ line: "end", ...place(), status: "waiting", waitsFor, at }));
  await writeFileAtomically(path, lines);
  await syncFolder(dirname(path));
}

/** A copy that takes the place of the file, so that a process that lost it without knowing writes to the old one. */
async function movedCopy(from: FileHandle, path: string, size: number): Promise<FileHandle> {
  const draft = await DraftFile.create(path);
  try {
    const chunk = Buffer.allocUnsafe(COPY_BYTES);
    for (let at = 0; at < size;) {
      const { bytesRead } = await from.read(chunk, 0, Math.min(COPY_BYTES, size - at), at);
      if (bytesRead === 0) throw new Error(`${path} has become shorter`);
      await writeFully(draft.handle, chunk.subarray(0, bytesRead), at);
      at += bytesRead;
    }
    await draft.publish();
    await syncFolder(dirname(path));
  } catch (error) {
    await draft.discard();
    throw error;
  }
  return draft.handle;
}
