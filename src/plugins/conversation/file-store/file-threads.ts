import { createHash } from "node:crypto";
import { open, readdir, rm, type FileHandle } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type {
  ConversationStore,
  StoredTurn,
  ThreadChange,
  ThreadHead,
  ThreadLock,
  ThreadLockOptions,
  ThreadPage,
  ThreadQuery,
  TurnQuery,
} from "../../../contracts/conversation.js";
import type { Clock } from "../../../contracts/runtime.js";
import type { LinePlace, ThreadRecord } from "./thread-record.js";
import { requireText } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";
import { eachLine, linesFromEnd } from "../../../util/files/lines.js";
import { makeFolder } from "../../../util/files/make-folder.js";
import { openFileAt } from "../../../util/files/open-file.js";
import { syncFolder } from "../../../util/files/sync-folder.js";
import { writeFully } from "../../../util/files/write-fully.js";
import { codeOf } from "../../../util/objects.js";
import { emitProcessWarning } from "../../../util/process-warning.js";
import { systemClock } from "../../../util/runtime.js";
import { checkThreadId, checkThreadQuery, checkTurnQuery } from "../shared/checks.js";
import { nextHead } from "../shared/next-head.js";
import { storeFailureOf } from "../shared/store-failure.js";
import { pageOf } from "../shared/thread-list.js";
import { ThreadQueue } from "../shared/thread-queue.js";
import { fileLockOf } from "./file-lock-of.js";
import { readRecord } from "./thread-record.js";

/** Maximum wait of a change for other processes, in milliseconds. */
const WRITE_TIMEOUT_MS = 30_000;
const EXTENSION = ".jsonl";

/**
 * Threads in a folder: one file of JSON lines per thread, one line per change. Several processes
 * may use the folder.
 */
export class FileThreads implements ConversationStore {
  readonly #folder: string;
  readonly #clock: Pick<Clock, "now">;
  readonly #turns = new ThreadQueue();
  readonly #writes = new ThreadQueue();

  /** @throws ValidationError for a blank folder. */
  constructor(folder: string, clock: Pick<Clock, "now"> = systemClock) {
    requireText(folder, "ConversationStore.file folder must not be blank");
    this.#folder = resolve(folder);
    this.#clock = clock;
  }

  async open(threadId: string): Promise<ThreadHead | undefined> {
    checkThreadId(threadId);
    return this.#asking(threadId, "open", () =>
      this.#reading(this.#pathOf(threadId), async (file, size, path) => {
        const last = await lastRecord(file, size, placeOf(file, path, threadId));
        return last?.record.head;
      }),
    );
  }

  async read(threadId: string, query: TurnQuery): Promise<readonly StoredTurn[]> {
    checkThreadId(threadId);
    checkTurnQuery(query);
    const turns = await this.#asking(threadId, "read", () =>
      this.#reading(this.#pathOf(threadId), (file, size, path) =>
        lastTurnsOf(file, size, query, placeOf(file, path, threadId)),
      ),
    );
    return turns ?? [];
  }

  async append(threadId: string, change: ThreadChange): Promise<ThreadHead> {
    checkThreadId(threadId);
    return this.#writing(threadId, "append", async (path) => {
      const known = await openFileAt(path, "write");
      const file = known ?? (await open(path, "wx+", 0o600));
      try {
        const head = await this.#write(file, path, threadId, change);
        if (known === undefined) await syncFolder(dirname(path));
        return head;
      } catch (error) {
        // A file without a change contains no thread.
        if (known === undefined) await rm(path, { force: true });
        throw error;
      } finally {
        await file.close();
      }
    });
  }

  async list(query: ThreadQuery = {}): Promise<ThreadPage> {
    checkThreadQuery(query);
    const heads = await this.#asking("", "list", () => this.#heads());
    return pageOf(heads, query);
  }

  async delete(threadId: string): Promise<boolean> {
    checkThreadId(threadId);
    return this.#writing(threadId, "delete", async (path) => {
      try {
        await rm(path);
      } catch (error) {
        if (codeOf(error) === "ENOENT") return false;
        throw error;
      }
      await syncFolder(dirname(path));
      return true;
    });
  }

  async lock(threadId: string, options: ThreadLockOptions): Promise<ThreadLock> {
    checkThreadId(threadId);
    const free = await this.#turns.take(threadId, options);
    try {
      await makeFolder(this.#folder);
      const lock = await fileLockOf(`${this.#pathOf(threadId)}.turn`, threadId, options);
      let released: Promise<void> | undefined;
      return { release: () => (released ??= lock.release().finally(free)) };
    } catch (error) {
      free();
      if (options.signal.aborted) throw error;
      throw storeFailureOf(error, this.#name, { threadId, operation: "lock" });
    }
  }

  get #name(): string {
    return `The thread folder ${this.#folder}`;
  }

  /** Returns the path of a thread. The path contains no part of the id. */
  #pathOf(threadId: string): string {
    return join(this.#folder, createHash("sha256").update(threadId).digest("hex") + EXTENSION);
  }

  async #asking<T>(threadId: string, operation: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw storeFailureOf(error, this.#name, { threadId, operation });
    }
  }

  async #reading<T>(
    path: string,
    work: (file: FileHandle, size: number, path: string) => Promise<T>,
  ): Promise<T | undefined> {
    const file = await openFileAt(path, "read");
    if (file === undefined) return undefined;
    try {
      return await work(file, (await file.stat()).size, path);
    } finally {
      await file.close();
    }
  }

  /** Executes changes one at a time, across processes. */
  async #writing<T>(
    threadId: string,
    operation: string,
    work: (path: string) => Promise<T>,
  ): Promise<T> {
    const path = this.#pathOf(threadId);
    const { signal } = new AbortController();
    const options = { timeoutMs: WRITE_TIMEOUT_MS, signal };
    const free = await this.#writes.take(threadId, options);
    try {
      return await this.#asking(threadId, operation, async () => {
        await makeFolder(this.#folder);
        const lock = await fileLockOf(path, threadId, options);
        try {
          return await work(path);
        } finally {
          await lock.release();
        }
      });
    } finally {
      free();
    }
  }

  async #write(
    file: FileHandle,
    path: string,
    threadId: string,
    change: ThreadChange,
  ): Promise<ThreadHead> {
    const { size } = await file.stat();
    const last = await lastRecord(file, size, placeOf(file, path, threadId));
    const head = nextHead(threadId, last?.record.head, change, this.#clock.now());
    const end = last?.end ?? 0;
    if (end < size) {
      await file.truncate(end);
      emitProcessWarning(`${path}: the last line was cut off; its change was never confirmed`);
    }
    const { turns = [] } = change;
    const record: ThreadRecord = { v: 1, head, kept: head.turns - turns.length, turns };
    try {
      await writeFully(file, Buffer.from(`${JSON.stringify(record)}\n`), end);
      await file.datasync();
    } catch (error) {
      await file.truncate(end).catch(() => undefined); // the next change repeats it
      throw error;
    }
    return head;
  }

  async #heads(): Promise<readonly ThreadHead[]> {
    const heads: ThreadHead[] = [];
    for (const name of await filesIn(this.#folder)) {
      const path = join(this.#folder, name);
      try {
        const last = await this.#reading(path, (file, size) =>
          lastRecord(file, size, placeOf(file, path, undefined)),
        );
        if (last !== undefined) heads.push(last.record.head);
      } catch (error) {
        emitProcessWarning(`A thread is left out of the list: ${messageOf(error)}`);
      }
    }
    return heads;
  }
}

async function filesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(EXTENSION));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

function placeOf(file: FileHandle, path: string, threadId: string | undefined): LinePlace {
  return {
    path,
    threadId,
    lineOf: async (position) => {
      let number = 1;
      await eachLine(file, ({ start }) => start < position && number++ > 0);
      return number;
    },
  };
}

/** Returns the last change and the position after it. */
async function lastRecord(
  file: FileHandle,
  size: number,
  place: LinePlace,
): Promise<{ readonly record: ThreadRecord; readonly end: number } | undefined> {
  for await (const line of linesFromEnd(file, size))
    return { record: await readRecord(line, place), end: line.end };
  return undefined;
}

/** Reads the last turns from the end, because removed turns come first. */
async function lastTurnsOf(
  file: FileHandle,
  size: number,
  { limit, before = Infinity }: TurnQuery,
  place: LinePlace,
): Promise<readonly StoredTurn[]> {
  const found: StoredTurn[] = [];
  let below = before;
  for await (const line of linesFromEnd(file, size)) {
    const { turns, kept } = await readRecord(line, place);
    for (const turn of [...turns].reverse()) {
      if (turn.n >= below) continue;
      found.push(turn);
      if (found.length === limit) return found.reverse();
    }
    below = Math.min(below, kept);
    if (below === 0) break;
  }
  return found.reverse();
}
