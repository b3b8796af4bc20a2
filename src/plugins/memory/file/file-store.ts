import { resolve } from "node:path";
import type {
  EvictionPolicy,
  MemoryEntry,
  SharedMemoryStore,
  VersionedEntries,
} from "../../../contracts/memory.js";
import type { CommitQueue, PlannedChange, WaitingChange } from "./commit-queue.js";
import type { WriteLog } from "./write-log.js";
import type { ScopeTable } from "./scope-table.js";
import { AgentEnsembleError, ValidationError } from "../../../contracts/errors.js";
import { MemoryConflictError, MemoryStoreError } from "../../../contracts/state-errors.js";
import {
  checkOptions,
  preview,
  requireFunction,
  requireText,
} from "../../../contracts/validation.js";
import {
  checkExpectedVersion,
  checkLock,
  checkMaxResults,
  checkPolicy,
  checkScope,
  keptBy,
} from "../shared/checks.js";
import { entryFromData, entryJson, handedOut, type EntryData } from "../shared/frozen-entry.js";
import { ScopeLocks } from "../shared/scope-locks.js";
import { droppedRanges } from "./scope-table.js";
import { messageOf } from "../../../util/errors.js";
import { requireUsableFile } from "../../../util/files/usable-file.js";

/** Options of `MemoryStore.file(path, options)`. */
export interface FileStoreOptions {
  /**
   * Called once for each repair or problem that made no call fail. Examples: a record cut off by a
   * crash was moved aside, or a compaction failed and will be retried. Errors of the callback are
   * ignored. Default: no callback.
   */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Maximum length of an entry as JSON, because an entry is parsed without yielding. */
const MAX_ENTRY_CHARACTERS = 8 << 20;
/** Weight of an eviction in a batch. An eviction reads all entries of its scope. */
const EVICTION_SIZE = 64 << 10;

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "Free some disk space. The store then works again",
  EDQUOT: "Free some disk space. The store then works again",
  EFBIG: "The file may not grow further: raise the limit, or evict entries earlier",
  EACCES: "The file, its folder and the files next to it must be writable",
  EPERM: "The file, its folder and the files next to it must be writable",
  EROFS: "The file, its folder and the files next to it must be writable",
};

class FileStore implements SharedMemoryStore {
  readonly #path: string;
  readonly #onWarning: ((message: string) => void) | undefined;
  readonly #locks = new ScopeLocks();
  #queue: Promise<CommitQueue> | undefined;
  #opening: Promise<WriteLog> | undefined;
  #closing: Promise<void> | undefined;

  constructor(path: string, { onWarning }: FileStoreOptions) {
    this.#path = resolve(path);
    this.#onWarning = onWarning;
  }

  check(): void {
    try {
      requireUsableFile(this.#path);
    } catch (cause) {
      throw new MemoryStoreError(
        `The memory store of ${this.#path} can't be used: ${messageOf(cause)}`,
        { operation: "check" },
        { cause, hint: "Choose a path that this process may read and write, with its folder" },
      );
    }
  }

  async store(scope: string, entry: MemoryEntry): Promise<void> {
    await this.#append("store", scope, entry);
  }

  async storeIf(scope: string, entry: MemoryEntry, expectedVersion: number): Promise<number> {
    return this.#append("storeIf", scope, entry, expectedVersion);
  }

  async retrieve(
    scope: string,
    query: string,
    maxResults: number,
  ): Promise<readonly MemoryEntry[]> {
    return (await this.#read("retrieve", scope, query, maxResults)).entries;
  }

  async retrieveVersioned(
    scope: string,
    query: string,
    maxResults: number,
  ): Promise<VersionedEntries> {
    return this.#read("retrieveVersioned", scope, query, maxResults);
  }

  async evict(scope: string, policy: EvictionPolicy): Promise<void> {
    checkScope(scope);
    checkPolicy(policy);
    const plan = (table: ScopeTable): PlannedChange => {
      const { entries, version } = table.view(scope);
      if (entries.length === 0) return undefined;
      const given = entries.map(({ entry }) => handedOut(entry));
      const dropped = droppedRanges(entries, keptBy(policy, given));
      return dropped.length === 0
        ? undefined
        : { change: { op: "drop", scope, version: version + 1, dropped } };
    };
    await this.#submit("evict", scope, plan, EVICTION_SIZE);
  }

  async clear(scope: string): Promise<void> {
    checkScope(scope);
    await this.#submit("clear", scope, (table) => {
      const { entries, version } = table.view(scope);
      return entries.length === 0
        ? undefined
        : { change: { op: "clear", scope, version: version + 1 } };
    });
  }

  async withLock<T>(
    scope: string,
    work: () => Promise<T>,
    options?: { readonly timeoutMs?: number | undefined },
  ): Promise<T> {
    const timeoutMs = checkLock(scope, work, options);
    await this.#opened("withLock", scope); // the lock on the file excludes other processes
    return this.#locks.run(scope, work, timeoutMs);
  }

  /** Waits for pending calls, then releases the file. Later calls are rejected. */
  async close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    await (await this.#queue)?.idle();
    const open = await this.#opening?.catch(() => undefined); // the callers received the error
    await open?.close();
  }

  async #append(
    operation: string,
    scope: string,
    entry: MemoryEntry,
    expectedVersion?: number,
  ): Promise<number> {
    checkScope(scope);
    const json = entryJson(entry);
    if (operation === "storeIf") checkExpectedVersion(expectedVersion ?? Number.NaN);
    if (json.length > MAX_ENTRY_CHARACTERS) {
      throw new ValidationError(
        `entry must be at most ${MAX_ENTRY_CHARACTERS} characters of JSON, got: ${json.length}`,
      );
    }
    const copy = entryFromData(JSON.parse(json) as EntryData); // serialised above
    const plan = (table: ScopeTable): PlannedChange => {
      const { version } = table.view(scope);
      if (expectedVersion !== undefined && version !== expectedVersion)
        throw new MemoryConflictError(scope, expectedVersion);
      return { change: { op: "store", scope, version: version + 1, entry: copy, bytes: 0 }, json };
    };
    return this.#submit(operation, scope, plan, json.length);
  }

  async #read(
    operation: string,
    scope: string,
    _query: string,
    maxResults: number,
  ): Promise<VersionedEntries> {
    checkScope(scope);
    checkMaxResults(maxResults);
    const { entries, version } = (await this.#opened(operation, scope)).table.view(scope);
    return Object.freeze({
      entries: Object.freeze(entries.slice(-maxResults).map(({ entry }) => handedOut(entry))),
      version,
    });
  }

  async #submit(
    operation: string,
    scope: string,
    plan: WaitingChange["plan"],
    size = 0,
  ): Promise<number> {
    this.#checkIsOpen(operation, scope);
    this.#queue ??= this.#makeQueue();
    const queue = await this.#queue;
    return new Promise<number>((resolve, reject) =>
      queue.add({ operation, scope, size, plan, resolve, reject }),
    );
  }

  async #makeQueue(): Promise<CommitQueue> {
    const { CommitQueue } = await import("./commit-queue.js");
    return new CommitQueue(
      () => this.#open(),
      (error, { operation, scope }) => this.#explain(error, operation, scope),
      (log) => this.#maintain(log),
    );
  }

  async #opened(operation: string, scope: string): Promise<WriteLog> {
    this.#checkIsOpen(operation, scope);
    try {
      return await this.#open();
    } catch (error) {
      throw this.#explain(error, operation, scope);
    }
  }

  #checkIsOpen(operation: string, scope: string): void {
    if (this.#closing === undefined) return;
    throw new MemoryStoreError(
      `The memory store of ${this.#path} is closed`,
      { operation, scope },
      { hint: "Make a new one, or close it later" },
    );
  }

  /** Opens the file once. A failure is not cached, so that the next call tries again. */
  #open(): Promise<WriteLog> {
    if (this.#opening === undefined) {
      const opening = this.#openWriteLog();
      this.#opening = opening;
      opening.catch(() => {
        if (this.#opening === opening) this.#opening = undefined;
      });
    }
    return this.#opening;
  }

  async #openWriteLog(): Promise<WriteLog> {
    const { WriteLog } = await import("./write-log.js");
    return WriteLog.open(this.#path, (message) => this.#warn(message));
  }

  /**
   * Runs after each batch. Compacts the file if most of it is garbage, and releases a file that
   * another process has taken over. Never rejects.
   */
  async #maintain(log: WriteLog): Promise<void> {
    try {
      if (log.isMostlyGarbage) await log.compact();
    } catch (error) {
      this.#warn(
        `${log.path} could not be compacted, and will be tried again when it has grown: ${messageOf(error)}`,
      );
    }
    if (!log.isLost) return;
    this.#opening = undefined;
    await log
      .close()
      .catch((error: unknown) =>
        this.#warn(`${log.path} could not be closed: ${messageOf(error)}`),
      );
  }

  #explain(error: unknown, operation: string, scope: string): Error {
    if (AgentEnsembleError.isInstance(error)) return error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const hint = HINTS[code];
    return new MemoryStoreError(
      `The memory store of ${this.#path} could not ${operation}: ${messageOf(error)}`,
      { operation, scope },
      { cause: error, ...(hint === undefined ? {} : { hint }) },
    );
  }

  #warn(message: string): void {
    try {
      this.#onWarning?.(message);
    } catch {
      // An observer must not affect the store.
    }
  }
}

/**
 * Creates a persistent store. The store is one append-only file of JSON lines, compacted when most
 * of it is garbage. An entry is on disk when `store` resolves. The first call opens the file and
 * creates its folder. A relative path is resolved against the current folder when the store is
 * created. Only one object at a time may use the file. While the file is open, calls of other
 * objects reject with MemoryStoreError. `retrieve` returns the latest entries, oldest first.
 *
 * The methods reject with FileFormatError for a file of another kind or with a damaged line.
 * @throws ValidationError for an invalid path or option
 */
export function fileStore(path: string, options: FileStoreOptions = {}): SharedMemoryStore {
  requireText(path, `path must be the path of a file, got: ${preview(path)}`);
  if (path.includes("\0"))
    throw new ValidationError(`path must not contain a NUL character, got: ${preview(path)}`);
  checkOptions("MemoryStore.file()", options, ["onWarning"]);
  requireFunction("MemoryStore.file() onWarning", options.onWarning);
  return new FileStore(path, options);
}
