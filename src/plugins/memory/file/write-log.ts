import type { FileHandle } from "node:fs/promises";
import { open, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { ScopeTable } from "./scope-table.js";
import { MemoryStoreError } from "../../../contracts/state-errors.js";
import { DraftFile, writeFileAtomically } from "../../../util/files/atomic-write.js";
import type { FileLock } from "../../../util/files/file-lock.js";
import { makeFolder } from "../../../util/files/make-folder.js";
import { isAt } from "../../../util/files/same-file.js";
import { syncFolder } from "../../../util/files/sync-folder.js";
import { writeFully } from "../../../util/files/write-fully.js";
import { codeOf } from "../../../util/objects.js";
import { acquireLock } from "../../shared/files/acquire-lock.js";
import { readWriteLog, type ReadWriteLog } from "./write-log-reader.js";
import { HEADER_LINE, linesOfTable } from "./record.js";

const WRITE_BYTES = 1 << 20;
/** A file below this is never worth writing anew. */
const MIN_COMPACTION_BYTES = 64 << 10;

/**
 * A file that only grows, with the lock that keeps others from it. What `append` has taken is on disk.
 * A write that fails leaves the file as it was.
 */
export class WriteLog {
  readonly path: string;
  readonly table: ScopeTable;
  readonly #lock: FileLock;
  #file: FileHandle;
  #size: number;
  /** The size from which on the file is looked at for garbage: each time twice what was left. */
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
   * Makes the file and its folder where there are none. `warn` is told of a record that was cut off by a crash.
   * @throws MemoryStoreError while another process or object has the file open; FileFormatError; what the file system throws.
   */
  static async open(givenPath: string, warn: (message: string) => void): Promise<WriteLog> {
    const path = await locate(givenPath);
    const lock = await acquireLock(`${path}.lock`);
    let file: FileHandle | undefined;
    try {
      file = await openFile(path);
      await rm(temporaryPath(path), { force: true }); // of a compaction that a crash has ended
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

  /** Whether the file or its lock is no longer this object's, or what the file holds is not known: it must be opened again. */
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
        `${this.path} ended in a record that a crash had cut off and nobody had been told was stored; its ${torn.length} bytes are in ${aside}`,
      );
    }
    if (unended) await this.append("\n");
    if (this.#size > 0) return;
    this.#folderIsSynced = false;
    await this.append(HEADER_LINE);
  }

  /** @throws MemoryStoreError when somebody else has changed the file or taken it over; what the file system throws. Nothing was written then. */
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
      this.#isLost = true; // the caller gets the first error; what the file holds is seen when it is opened again
    }
  }

  async #checkIsOurs(): Promise<void> {
    const [there, isMine, isHeld] = await Promise.all([
      statIfThere(this.path),
      isAt(this.#file, this.path),
      this.#lock.isHeld(),
    ]);
    if (isHeld && isMine && there?.size === this.#size) return;
    this.#isLost = true;
    const what = isHeld ? (there === undefined ? "was removed" : "was changed") : "was taken over";
    throw new MemoryStoreError(
      `${this.path} ${what} by somebody else while this store had it open; nothing was written`,
      { operation: "append" },
      { hint: "The next call opens the file anew; let no other program change it" },
    );
  }

  /** Writes what the table holds into a new file that takes the place of the old one in one step. The old one stays where that fails. */
  async compact(): Promise<void> {
    this.#compactAt = 2 * this.#size; // in case it fails
    await this.#checkIsOurs();
    const { mode } = await this.#file.stat();
    await rm(temporaryPath(this.path), { force: true });
    const draft = await DraftFile.at(temporaryPath(this.path), this.path);
    let size = 0;
    try {
      await draft.handle.chmod(mode & 0o777);
      for (const part of parts(linesOfTable(this.table))) {
        await writeFully(draft.handle, part, size);
        size += part.length;
      }
      await draft.publish();
    } catch (error) {
      await draft.discard();
      throw error;
    }
    const old = this.#file;
    [this.#file, this.#size, this.#folderIsSynced] = [draft.handle, size, false]; // from here on the new file is the one; no write counts before the folder is on disk
    this.#compactAt = Math.max(MIN_COMPACTION_BYTES, 2 * size);
    await old.close();
    await this.#syncFolder();
  }

  /** A new name in a folder is on disk only when the folder is. */
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

/** The file that a compaction writes before it takes the place of the other. */
function temporaryPath(path: string): string {
  return `${path}.tmp`;
}

/** Where a file really lies, so that two ways to it lead to one lock. The folder is made. */
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

/** Opens the file, and makes it where there is none. Other things than files are not opened at all: a pipe would wait for ever. */
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

/** Lines in pieces of about a megabyte. */
function* parts(lines: Iterable<string>): Generator<Buffer> {
  let text = "";
  for (const line of lines) {
    text += line;
    if (text.length < WRITE_BYTES) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}
