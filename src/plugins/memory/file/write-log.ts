import type { FileHandle } from "node:fs/promises";
import { open, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { ScopeTable } from "./scope-table.js";
import { MemoryStoreError } from "../../../contracts/state-errors.js";
import { DraftFile, writeFileAtomically } from "../../../util/files/atomic-write.js";
import type { FileLock } from "../../../util/files/file-lock.js";
import { lineParts } from "../../../util/files/line-parts.js";
import { makeFolder } from "../../../util/files/make-folder.js";
import { isAtPath } from "../../../util/files/same-file.js";
import { syncFolder } from "../../../util/files/sync-folder.js";
import { writeFully } from "../../../util/files/write-fully.js";
import { codeOf } from "../../../util/objects.js";
import { acquireLock } from "../../shared/files/acquire-lock.js";
import { readWriteLog, type ReadWriteLog } from "./write-log-reader.js";
import { HEADER_LINE, linesOfTable } from "./record.js";

/** Files below this size are never compacted. */
const MIN_COMPACTION_BYTES = 64 << 10;

/**
 * An append-only file with a lock that excludes other users. Data is on disk when `append`
 * resolves. A failed write leaves the file unchanged.
 */
export class WriteLog {
  readonly path: string;
  readonly table: ScopeTable;
  readonly #lock: FileLock;
  #file: FileHandle;
  #size: number;
  /**
   * The size in bytes at which the file is checked for garbage. It is twice the size after the last
   * compaction, and at least 64 KiB.
   */
  #compactAt: number;
  #folderIsSynced = true;
  #isLost = false;

  private constructor(
    path: string,
    lock: FileLock,
    file: FileHandle,
    { table, size }: ReadWriteLog,
  ) {
    this.path = path;
    this.table = table;
    this.#lock = lock;
    this.#file = file;
    this.#size = size;
    this.#compactAt = Math.max(MIN_COMPACTION_BYTES, 2 * table.liveBytes);
    lock.owner = this;
  }

  /**
   * Opens the file, and creates it with its folder if it is missing. Calls `warn` about a record
   * that a crash cut off.
   * @throws MemoryStoreError while another process or object has the file open; FileFormatError;
   * errors of the file system
   */
  static async open(givenPath: string, warn: (message: string) => void): Promise<WriteLog> {
    const path = await locate(givenPath);
    const lock = await acquireLock(`${path}.lock`);
    let file: FileHandle | undefined;
    try {
      file = await openFile(path);
      await rm(temporaryPath(path), { force: true }); // left by a compaction that crashed
      const found = await readWriteLog(file, path);
      const log = new WriteLog(path, lock, file, found);
      await log.#recover(found, warn);
      return log;
    } catch (error) {
      await file?.close();
      await lock.release();
      throw error;
    }
  }

  get isMostlyGarbage(): boolean {
    return !this.#isLost && this.#size >= this.#compactAt && this.#size > 2 * this.table.liveBytes;
  }

  /**
   * Whether the file must be opened again. Another process has taken the file or its lock, or its
   * content is unknown.
   */
  get isLost(): boolean {
    return this.#isLost;
  }

  async #recover({ torn, unended }: ReadWriteLog, warn: (message: string) => void): Promise<void> {
    if (torn !== undefined) {
      const aside = `${this.path}.torn`;
      await writeFileAtomically(aside, torn);
      await this.#file.truncate(this.#size);
      await this.#file.sync();
      warn(
        `${this.path} ended in a record that a crash had truncated and that was never acknowledged; its ${torn.length} bytes are in ${aside}`,
      );
    }
    if (unended) await this.append("\n");
    if (this.#size > 0) return;
    this.#folderIsSynced = false;
    await this.append(HEADER_LINE);
  }

  /**
   * Appends text. Writes nothing when it throws.
   * @throws MemoryStoreError if another process has changed the file or taken it over; errors of
   * the file system
   */
  async append(text: string): Promise<void> {
    await this.#checkIsOurs();
    const bytes = Buffer.from(text);
    try {
      await writeFully(this.#file, bytes, this.#size);
      await this.#file.datasync();
      await this.#syncFolder();
    } catch (error) {
      await this.#cutBack();
      throw error;
    }
    this.#size += bytes.length;
  }

  async #cutBack(): Promise<void> {
    try {
      await this.#file.truncate(this.#size);
    } catch {
      // the caller receives the first error; reopening determines the content of the file
      this.#isLost = true;
    }
  }

  async #checkIsOurs(): Promise<void> {
    const [there, isMine, isHeld] = await Promise.all([
      statIfThere(this.path),
      isAtPath(this.#file, this.path),
      this.#lock.isHeld(),
    ]);
    if (isHeld && isMine && there?.size === this.#size) return;
    this.#isLost = true;
    const what = isHeld ? (there === undefined ? "was removed" : "was changed") : "was taken over";
    throw new MemoryStoreError(
      `${this.path} ${what} by another program while this store had it open; nothing was written`,
      { operation: "append" },
      { hint: "The next call opens the file again; let no other program change it" },
    );
  }

  /**
   * Writes the table into a new file and replaces the old one atomically. The old file stays if
   * that fails.
   */
  async compact(): Promise<void> {
    this.#compactAt = 2 * this.#size; // in case the compaction fails
    await this.#checkIsOurs();
    const { mode } = await this.#file.stat();
    await rm(temporaryPath(this.path), { force: true });
    const draft = await DraftFile.at(temporaryPath(this.path), this.path);
    let size = 0;
    try {
      await draft.handle.chmod(mode & 0o777);
      for (const part of lineParts(linesOfTable(this.table))) {
        await writeFully(draft.handle, part, size);
        size += part.length;
      }
      await draft.publish();
    } catch (error) {
      await draft.discard();
      throw error;
    }
    const old = this.#file;
    // the new file is active from here on; no write is complete before the folder is synced
    [this.#file, this.#size, this.#folderIsSynced] = [draft.handle, size, false];
    this.#compactAt = Math.max(MIN_COMPACTION_BYTES, 2 * size);
    await old.close();
    await this.#syncFolder();
  }

  /** A new name in a folder is durable only after the folder is synced. */
  async #syncFolder(): Promise<void> {
    if (!this.#folderIsSynced) await syncFolder(dirname(this.path));
    this.#folderIsSynced = true;
  }

  async close(): Promise<void> {
    try {
      await this.#file.close();
    } finally {
      await this.#lock.release();
    }
  }
}

/** Returns the path of the file that a compaction writes before it replaces the original. */
function temporaryPath(path: string): string {
  return `${path}.tmp`;
}

/** Returns the real path of a file, so that all paths to it use one lock. Creates the folder. */
async function locate(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  await makeFolder(dirname(path));
  return join(await realpath(dirname(path)), basename(path));
}

async function statIfThere(path: string): Promise<Awaited<ReturnType<typeof stat>> | undefined> {
  return stat(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
}

/**
 * Opens the file, and creates it if it is missing. Opens only regular files, since opening a pipe
 * would block forever.
 */
async function openFile(path: string): Promise<FileHandle> {
  const there = await statIfThere(path);
  if (there?.isFile() === false)
    throw new MemoryStoreError(
      `${path} is not a file`,
      { operation: "open" },
      { hint: "Give the store the path of a file" },
    );
  return open(path, there === undefined ? "wx+" : "r+", 0o600);
}
