import type { Awaitable } from "./types.js";

/**
 * An entry of memory. `metadata` records its origin; {@link MEMORY_METADATA} lists the framework's
 * keys.
 */
export interface MemoryEntry {
  readonly content: string;
  /** The structured form of the text, if there is one: JSON. */
  readonly structuredContent?: unknown;
  readonly storedAt: Date;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Keys of `MemoryEntry.metadata` with the origin of an entry that the framework writes. */
export const MEMORY_METADATA = Object.freeze({
  agentRole: "agentRole",
  taskDescription: "taskDescription",
  runId: "runId",
  taskId: "taskId",
  attempt: "attempt",
  /** Set by the memory tool: the model's name for the entry. */
  key: "key",
  /**
   * The source of outside text that the run had read before it wrote the entry. Absent if the run
   * had read none.
   */
  untrusted: "untrusted",
  source: "source",
});

/**
 * Selects the entries of a scope to keep. Receives them oldest first and returns those to keep. A
 * run passes the time of its clock.
 */
export interface EvictionPolicy {
  apply(entries: readonly MemoryEntry[], now?: Date): readonly MemoryEntry[];
}

/**
 * Keeps entries by scope, for the lifetime of the store. Writes of a run use the `writeMemory`
 * gateway, so that hooks see them.
 *
 * `retrieve` returns up to `maxResults` entries. A store that understands the query returns the
 * best first. Other stores return the latest, oldest first. An unknown scope is empty. Concurrent
 * runs share stores. All methods reject with `ValidationError` for a blank scope or a `maxResults`
 * below 1, and with `MemoryStoreError` if the storage fails.
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
   * Checks that the store can read and write its storage. Changes nothing. The command `doctor`
   * calls it. @throws MemoryStoreError if it can't.
   */
  check?(): Awaitable<void>;
  /** Closes files and connections. The creator of the store calls it. */
  close?(): Promise<void>;
}

/** Entries, and the version of their scope at the time of reading. */
export interface VersionedEntries {
  readonly entries: readonly MemoryEntry[];
  /** 0 for a scope without writes; each change of the scope adds 1. */
  readonly version: number;
}

/**
 * A store for several writers, also in several processes. It keeps versions and locks with the
 * entries.
 */
export interface SharedMemoryStore extends MemoryStore {
  retrieveVersioned(scope: string, query: string, maxResults: number): Promise<VersionedEntries>;
  /**
   * Writes if the scope still has this version, in one step. Returns the new version. Rejects with
   * `MemoryConflictError` otherwise.
   */
  storeIf(scope: string, entry: MemoryEntry, expectedVersion: number): Promise<number>;
  /**
   * Runs `work` while holding the exclusive lock of this scope. Rejects with `MemoryStoreError` if
   * the lock is not available within `timeoutMs` (default 30,000).
   */
  withLock<T>(
    scope: string,
    work: () => Promise<T>,
    options?: { readonly timeoutMs?: number | undefined },
  ): Promise<T>;
}

/** Knowledge of an agent from earlier runs. Searched before a task, written after it. */
export interface LongTermMemory {
  store(entry: MemoryEntry): Promise<void>;
  /** Returns the entries nearest to the query, best first. */
  retrieve(query: string, maxResults: number): Promise<readonly MemoryEntry[]>;
  /** As `MemoryStore.check`. */
  check?(): Awaitable<void>;
}

/** Facts by name, added by the user or by a tool. */
export interface EntityMemory {
  put(name: string, fact: string): Awaitable<void>;
  get(name: string): Awaitable<string | undefined>;
  /** Returns facts in the order in which their names were first added. */
  getAll(): Awaitable<ReadonlyMap<string, string>>;
}

/**
 * The memory of the whole team, in addition to the scopes of its tasks. At least one kind must be
 * on.
 */
export interface MemoryOptions {
  /**
   * Passes the outputs of earlier tasks of the run to every later task. They replace the context of
   * previous tasks in the prompt. Default false. `window` is the number of last outputs, in
   * addition to those in the task's `context`. An agent's `shortTermWindow` takes precedence.
   */
  readonly shortTerm?: boolean | { readonly window: number } | undefined;
  readonly longTerm?: LongTermMemory | undefined;
  readonly entity?: EntityMemory | undefined;
  /** Default 5. */
  readonly longTermMaxResults?: number | undefined;
}

/**
 * Returns the number of outputs of a run that short-term memory passes to the tasks of an agent;
 * `undefined` if it is off.
 */
export function shortTermWindow(
  { shortTerm }: MemoryOptions,
  agent: { readonly shortTermWindow?: number | undefined } | undefined,
): number | undefined {
  if (shortTerm === undefined || shortTerm === false) return undefined;
  return agent?.shortTermWindow ?? (shortTerm === true ? Infinity : shortTerm.window);
}

/**
 * Number of memory operations. Counts reads and writes of task scopes and of the team's memory
 * separately.
 */
export interface MemoryOperationCounts {
  readonly shortTermEntriesWritten: number;
  readonly longTermStores: number;
  readonly longTermRetrievals: number;
  readonly entityLookups: number;
  readonly scopeReads: number;
  readonly scopeWrites: number;
}
