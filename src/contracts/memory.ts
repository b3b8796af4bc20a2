import type { Awaitable } from "./types.js";

/**
 * An entry of memory. `metadata` describes its origin. {@link MEMORY_METADATA} lists the keys that
 * the framework sets.
 */
export interface MemoryEntry {
  readonly content: string;
  /** The text as structured JSON data, if available. */
  readonly structuredContent?: unknown;
  readonly storedAt: Date;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** The keys of `MemoryEntry.metadata` with which the framework describes the origin of an entry. */
export const MEMORY_METADATA = Object.freeze({
  agentRole: "agentRole",
  taskDescription: "taskDescription",
  runId: "runId",
  taskId: "taskId",
  attempt: "attempt",
  /** The name that the model gave the entry. Set by the memory tool. */
  key: "key",
  /**
   * The source of the outside text that the run had read before it wrote the entry. Absent if the
   * run had read no such text.
   */
  untrusted: "untrusted",
  source: "source",
});

/**
 * Selects the entries of a scope to keep. Receives the entries oldest first and returns the entries
 * to keep. A run passes the time of its clock.
 */
export interface EvictionPolicy {
  apply(entries: readonly MemoryEntry[], now?: Date): readonly MemoryEntry[];
}

/**
 * Stores entries by scope, for the lifetime of the store. A run writes through the `writeMemory`
 * gateway. Hooks receive these writes.
 *
 * `retrieve` returns up to `maxResults` entries. A store that evaluates the query returns the best
 * entries first. Other stores return the latest entries, oldest first. An unknown scope is empty.
 * Concurrent runs share a store. All methods reject with `ValidationError` for a blank scope or a
 * `maxResults` below 1. They reject with `MemoryStoreError` if the storage fails.
 */
export interface MemoryStore {
  store(scope: string, entry: MemoryEntry): Promise<void>;
  retrieve(scope: string, query: string, maxResults: number): Promise<readonly MemoryEntry[]>;
  evict(scope: string, policy: EvictionPolicy): Promise<void>;
  clear(scope: string): Promise<void>;
  /**
   * Whether the entries are lost when the process ends. `durable()` then warns. Default false.
   */
  readonly isVolatile?: boolean | undefined;
  /**
   * Checks that the store can read and write its storage, without changing any data. The command
   * `doctor` calls it.
   * @throws MemoryStoreError if the storage can't be used.
   */
  check?(): Awaitable<void>;
  /** Closes files and connections. The creator of the store calls it. */
  close?(): Promise<void>;
}

/** Entries with the version of their scope at the time of reading. */
export interface VersionedEntries {
  readonly entries: readonly MemoryEntry[];
  /** The number of changes of the scope. 0 for a scope without writes. */
  readonly version: number;
}

/**
 * A memory store for several writers, including writers in several processes. The store keeps
 * versions and locks with the entries.
 */
export interface SharedMemoryStore extends MemoryStore {
  retrieveVersioned(scope: string, query: string, maxResults: number): Promise<VersionedEntries>;
  /**
   * Writes an entry in one atomic step if the scope still has this version, and returns the new
   * version. Rejects with `MemoryConflictError` otherwise.
   */
  storeIf(scope: string, entry: MemoryEntry, expectedVersion: number): Promise<number>;
  /**
   * Runs `work` while it holds the exclusive lock of this scope. Rejects with `MemoryStoreError` if
   * the lock is not available within `timeoutMs` (in milliseconds, default 30,000).
   */
  withLock<T>(
    scope: string,
    work: () => Promise<T>,
    options?: { readonly timeoutMs?: number | undefined },
  ): Promise<T>;
}

/** Knowledge of an agent from earlier runs. Searched before a task, and extended after the task. */
export interface LongTermMemory {
  store(entry: MemoryEntry): Promise<void>;
  /** Returns the entries nearest to the query, best first. */
  retrieve(query: string, maxResults: number): Promise<readonly MemoryEntry[]>;
  /** As `MemoryStore.check`. */
  check?(): Awaitable<void>;
}

/** Facts by the name of their subject, added by the user or by a tool. */
export interface EntityMemory {
  put(name: string, fact: string): Awaitable<void>;
  get(name: string): Awaitable<string | undefined>;
  /** Returns facts in the order in which their names were first added. */
  getAll(): Awaitable<ReadonlyMap<string, string>>;
}

/**
 * The memory of the whole team, in addition to the memory scopes of its tasks. At least one kind is
 * required.
 */
export interface MemoryOptions {
  /**
   * Passes the outputs of earlier tasks of the run to every later task. They replace the section on
   * previous tasks in the prompt. Default false. `window` is the number of last outputs, in
   * addition to the outputs in the task's `context`. An agent's `shortTermWindow` takes precedence.
   */
  readonly shortTerm?: boolean | { readonly window: number } | undefined;
  readonly longTerm?: LongTermMemory | undefined;
  readonly entity?: EntityMemory | undefined;
  /** Number of entries of long-term memory in a prompt. Default 5. */
  readonly longTermMaxResults?: number | undefined;
}

/**
 * Returns the number of outputs of a run that short-term memory passes to the tasks of an agent.
 * Returns `undefined` if short-term memory is off.
 */
export function shortTermWindow(
  { shortTerm }: MemoryOptions,
  agent: { readonly shortTermWindow?: number | undefined } | undefined,
): number | undefined {
  if (shortTerm === undefined || shortTerm === false) return undefined;
  return agent?.shortTermWindow ?? (shortTerm === true ? Infinity : shortTerm.window);
}

/**
 * Numbers of memory operations. Reads and writes of task scopes and of the team's memory are
 * counted separately.
 */
export interface MemoryOperationCounts {
  readonly shortTermEntriesWritten: number;
  readonly longTermStores: number;
  readonly longTermRetrievals: number;
  readonly entityLookups: number;
  readonly scopeReads: number;
  readonly scopeWrites: number;
}
