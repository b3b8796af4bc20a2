import type { FileHandle } from "node:fs/promises";
import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { NetworkError } from "../../../../contracts/network-errors.js";
import { FileFormatError } from "../../../../contracts/state-errors.js";
import { messageOf } from "../../../../util/errors.js";
import { DraftFile } from "../../../../util/files/atomic-write.js";
import { lineParts } from "../../../../util/files/line-parts.js";
import { eachLine } from "../../../../util/files/lines.js";
import { syncFolder } from "../../../../util/files/sync-folder.js";
import { writeFully } from "../../../../util/files/write-fully.js";
import { emitProcessWarning } from "../../../../util/process-warning.js";
import { HEADER_LINE } from "./network-lines.js";

/** Minimum size in bytes of a file that is compacted. */
const MIN_COMPACTION_BYTES = 1 << 20;

/**
 * An append-only file of lines. Lines added during a write share the next write. A line that could
 * not be written is kept, and is written with the next lines.
 */
export class ChangeFile {
  readonly path: string;
  readonly #contents: () => Iterable<string>;
  #file: FileHandle;
  #size: number;
  #compactAt: number;
  /** Lines that are not on disk yet. */
  #waiting: string[] = [];
  /** Number of lines since the file was opened. */
  #added = 0;
  #written = 0;
  #writing: Promise<void> | undefined;
  #isFailing = false;

  private constructor(
    path: string,
    file: FileHandle,
    { size, contents }: { readonly size: number; readonly contents: () => Iterable<string> },
  ) {
    this.path = path;
    this.#file = file;
    this.#size = size;
    this.#contents = contents;
    this.#compactAt = Math.max(MIN_COMPACTION_BYTES, 2 * size);
  }

  /**
   * Opens the file, and creates it if it is missing. Removes an incomplete line after a crash.
   * `read` receives the lines, the header first. `contents` returns the lines of a compacted file.
   * @throws FileFormatError for a line that `read` refuses; errors of the file system.
   */
  static async open(
    path: string,
    read: (text: string, line: number) => void,
    contents: () => Iterable<string>,
  ): Promise<ChangeFile> {
    await rm(draftPath(path), { force: true }); // left by a compaction that crashed
    const file = await opened(path);
    try {
      const size = await readLines(file, path, read);
      if (size === 0) await requireOwn(file, path);
      await file.truncate(size);
      const changes = new ChangeFile(path, file, { size, contents });
      if (size === 0) {
        changes.add(HEADER_LINE);
        await changes.settled();
        await syncFolder(dirname(path));
      }
      return changes;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  add(line: string): void {
    if (line === "") return;
    this.#waiting.push(line);
    this.#added++;
  }

  /** Removes a line that could not be written. Returns false if it is being written. */
  remove(line: string): boolean {
    const place = this.#writing === undefined ? this.#waiting.lastIndexOf(line) : -1;
    if (place === -1) return false;
    this.#waiting.splice(place, 1);
    this.#added--;
    return true;
  }

  /** Resolves when all lines added so far are on disk. Returns `undefined` if they already are. */
  settled(): Promise<void> | undefined {
    return this.#written === this.#added ? undefined : this.#writeUpTo(this.#added);
  }

  ready(): Promise<void> | undefined {
    return this.#isFailing ? this.settled() : undefined;
  }

  /** Writes waiting lines, and closes the file. */
  async close(): Promise<void> {
    try {
      await this.settled();
    } finally {
      await this.#file.close();
    }
  }

  async #writeUpTo(count: number): Promise<void> {
    while (this.#written < count) {
      this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
      await this.#writing;
    }
  }

  async #write(): Promise<void> {
    await Promise.resolve(); // further lines of this turn share the write
    const lines = this.#waiting.length;
    const bytes = Buffer.from(this.#waiting.join(""));
    try {
      await writeFully(this.#file, bytes, this.#size);
      await this.#file.datasync();
    } catch (cause) {
      this.#isFailing = true; // a part that was written is overwritten by the next attempt
      throw new NetworkError(`${this.path} could not be written: ${messageOf(cause)}`, {
        cause,
        hint: "Nothing that was accepted is lost. Free some space, or give access to the file.",
      });
    }
    this.#isFailing = false;
    this.#size += bytes.length;
    this.#drop(lines);
    if (this.#size >= this.#compactAt) await this.#compact();
  }

  #drop(lines: number): void {
    this.#waiting = this.#waiting.slice(lines);
    this.#written += lines;
  }

  /** Replaces the file by a file with the current state. If that fails, the old file stays. */
  async #compact(): Promise<void> {
    this.#compactAt = 2 * this.#size; // in case the compaction fails
    const covered = this.#waiting.length; // the state contains these changes already
    const lines = this.#contents();
    try {
      const { handle, size } = await writtenDraft(this.path, lines);
      const old = this.#file;
      [this.#file, this.#size] = [handle, size];
      this.#compactAt = Math.max(MIN_COMPACTION_BYTES, 2 * size);
      this.#drop(covered);
      await old.close();
      await syncFolder(dirname(this.path));
    } catch (error) {
      emitProcessWarning(`${this.path} could not be compacted: ${messageOf(error)}`);
    }
  }
}

function draftPath(path: string): string {
  return `${path}.tmp`;
}

async function opened(path: string): Promise<FileHandle> {
  return open(path, "r+").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      return open(path, "wx+", 0o600);
    throw error;
  });
}

/** Returns the number of bytes of complete lines. */
async function readLines(
  file: FileHandle,
  path: string,
  read: (text: string, line: number) => void,
): Promise<number> {
  let line = 0;
  return eachLine(file, ({ text }) => {
    line++;
    try {
      read(text, line);
    } catch (cause) {
      throw new FileFormatError(
        `Line ${line} of ${path} ${messageOf(cause)}`,
        { path, line },
        {
          cause,
          hint: "The file was not changed. Put back a copy of it, or choose another folder.",
        },
      );
    }
  });
}

/**
 * Checks a file without a complete line.
 * @throws FileFormatError unless its text is the beginning of a header.
 */
async function requireOwn(file: FileHandle, path: string): Promise<void> {
  const start = Buffer.alloc(HEADER_LINE.length);
  const { bytesRead } = await file.read(start, 0, start.length, 0);
  if (HEADER_LINE.startsWith(start.toString("latin1", 0, bytesRead))) return;
  throw new FileFormatError(
    `${path} is not a network file of AgentEnsemble`,
    { path, line: 1 },
    { hint: "The file was not changed. Choose another folder." },
  );
}

/** Writes lines to a new file that replaces the one at `path`. */
async function writtenDraft(
  path: string,
  lines: Iterable<string>,
): Promise<{ readonly handle: FileHandle; readonly size: number }> {
  const draft = await DraftFile.at(draftPath(path), path);
  let size = 0;
  try {
    for (const part of lineParts(lines)) {
      await writeFully(draft.handle, part, size);
      size += part.length;
    }
    await draft.publish();
  } catch (error) {
    await draft.discard();
    throw error;
  }
  return { handle: draft.handle, size };
}
