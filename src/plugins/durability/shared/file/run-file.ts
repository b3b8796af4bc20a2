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

/**
 * Limits the size of a batch, because a batch is built without a pause. The next batch follows at
 * once.
 */
const BATCH_CHARACTERS = 4 << 20;
const COPY_BYTES = 1 << 20;

interface WaitingLine {
  /** The size of the line in characters. */
  readonly size: number;
  /** Creates the line in its turn. Returns `undefined` if there is nothing to write. */
  plan(): { readonly text: string; undo(): void } | undefined;
  resolve(): void;
  reject(error: Error): void;
}

/** A run to be stored. */
interface NewRun {
  readonly start: RunStart;
  readonly at: string;
  /** With `waitsFor`: its existing entries. */
  readonly entries?: readonly JournalEntry[] | undefined;
  readonly waitsFor?: string | undefined;
}

interface OpenOptions {
  /** Whether entries that their finished tasks cover are skipped. */
  readonly leavesOut: boolean;
  /** See `ClaimLine.space`. */
  readonly space: string;
  /** The run to create if there is no file. */
  readonly create?: NewRun | undefined;
  readonly missing?: (() => Error) | undefined;
}

interface OpenedRunFile {
  readonly file: RunFile;
  readonly contents: RunContents;
  readonly isNew: boolean;
}

/**
 * The file of a run, opened by the only process that may write to it. Written data is on disk when
 * the promise of a method resolves.
 */
export class RunFile {
  readonly runId: string;
  readonly path: string;
  readonly #lock: FileLock;
  readonly #file: FileHandle;
  readonly #table: EntryTable;
  #size: number;
  #execution: number;
  /** The position of the line of the claim. */
  #claim: number | undefined;
  #waiting: WaitingLine[] = [];
  #writing: Promise<void> | undefined;
  /** Whether a write failed and its bytes could not be truncated yet. */
  #isTorn = false;
  #isClosed = false;
  /** The position of the next line of the current batch. */
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
    this.#isTorn = true; // removes incomplete bytes that a crash may have left after the last line
    lock.owner = this;
  }

  /**
   * Opens the file of a lock. The lock is released with `close()`, or at once if opening fails.
   * @throws the error of `missing` without a file; JournalError for an invalid file; errors of the
   * file system.
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

  /** Returns whether this object still holds the lock and the file. */
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

  /** Writes an entry, unless its key is known. With `replaces`, writes it in any case. */
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

  /** Writes waiting entries, closes the file and releases the lock. */
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
    await Promise.resolve(); // entries added in the same turn are included
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

  /**
   * @throws RunFencedError, JournalError or an error of the file system; the batch then has no
   * effect.
   */
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
      // A process on another host that takes over copies the file after it has the lock. While this
      // object holds the lock, the copy contains these bytes.
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
    // A process that takes over gets the lock before it replaces the file. The two checks above ran
    // at the same time, so the lock is checked again.
    if (!isHeld || (nlink === 0 && !(await this.#lock.isHeld())))
      throw new RunFencedError(this.runId);
    if (nlink === 0)
      throw new JournalError(`${this.path} was removed while its run was executed`, {
        hint: "Nothing more can be kept of this execution. Let no other program change the folder.",
      });
  }
}

/** Creates the file of a run atomically. */
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

/**
 * Replaces the file by a copy. A process that lost the run without noticing still writes to the old
 * file.
 */
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
