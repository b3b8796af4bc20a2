import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../../util/errors.js";
import { writeFileAtomically } from "../../../../util/files/atomic-write.js";
import { openFileAt } from "../../../../util/files/open-file.js";
import { emitProcessWarning } from "../../../../util/process-warning.js";
import { entryPart, entryLine, headLine, statusLine } from "./run-lines.js";
import type { RunLocks } from "./run-locks.js";
import { readRunState } from "./run-record.js";
import { readRun, type RunContents } from "./run-reader.js";

/** Returns the names of the runs' files in a folder. The folder may be missing. */
export async function runFilesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    // The error is one of the file system.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  });
  return names.filter((name) => name.endsWith(".jsonl") && !name.startsWith("."));
}

/**
 * Rewrites completed runs when a folder has become large. Omits the calls that their finished tasks
 * cover.
 */
export class RunCompaction {
  readonly #folder: string;
  readonly #locks: RunLocks;
  readonly #roomyBytes: number;
  /** The size of all runs in bytes. Unknown before the first run has ended. */
  #bytes: number | undefined;
  #hasSwept = false;

  constructor(folder: string, locks: RunLocks, roomyBytes: number) {
    this.#folder = folder;
    this.#locks = locks;
    this.#roomyBytes = roomyBytes;
  }

  /**
   * Checks the size of the folder after the completion of a run. A failure is reported as a process
   * warning, because no data is lost.
   */
  async afterCompletion(path: string): Promise<void> {
    try {
      if ((await this.#bytesWith(path)) <= this.#roomyBytes) return;
      if (this.#hasSwept) return await this.#compact(path);
      this.#hasSwept = true;
      for (const name of await runFilesIn(this.#folder))
        await this.#compact(join(this.#folder, name));
    } catch (error) {
      emitProcessWarning(`Runs in ${this.#folder} could not be made smaller: ${messageOf(error)}`);
    }
  }

  async #bytesWith(path: string): Promise<number> {
    if (this.#bytes === undefined) {
      this.#bytes = 0;
      for (const name of await runFilesIn(this.#folder))
        this.#bytes += await sizeOf(join(this.#folder, name));
    } else this.#bytes += await sizeOf(path);
    return this.#bytes;
  }

  async #compact(path: string): Promise<void> {
    // An unreadable run stays unchanged.
    const state = await readRunState(path).catch(() => undefined);
    if (state?.end?.status !== "completed" || state.end.isCompact === true) return;
    const lock = await this.#locks.take(path);
    if (lock === undefined) return;
    try {
      await rewrite(path);
    } finally {
      await lock.release();
    }
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0, // the file was deleted since
  );
}

async function rewrite(path: string): Promise<void> {
  const file = await openFileAt(path, "read");
  if (file === undefined) return;
  try {
    const contents = await readRun(file, path, true);
    if (contents.end?.status === "completed")
      await writeFileAtomically(path, compactLines(contents));
  } finally {
    await file.close();
  }
}

function* compactLines({ head, entries, end }: RunContents): Generator<string> {
  yield headLine(head.start, head.at);
  for (const entry of entries.values())
    yield entryLine({ execution: entry.execution, tasks: 0 }, entry.at, entryPart(entry));
  if (end !== undefined) yield statusLine({ ...end, isCompact: true });
}
