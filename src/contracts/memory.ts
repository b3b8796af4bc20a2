import type { Awaitable } from "./types.js";

/** One thing remembered. `metadata` tells where it came from; the framework's own keys are in {@link MEMORY_METADATA}. */
export interface MemoryEntry {
  readonly content: string;
  /** The value behind the text, where there is one: JSON. */
  readonly structuredContent?: unknown;
  readonly storedAt: Date;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/** Where an entry that the framework writes came from: its keys in `MemoryEntry.metadata`. */
export const MEMORY_METADATA = Object.freeze({
  agentRole: "agentRole",
  taskDescription: "taskDescription",
  runId: "runId",
  taskId: "taskId",
  attempt: "attempt",
  /** Set by the memory tool: what the model called it. */
  key: "key",
  /** Through what the run that wrote the entry had read text from outside before; no entry of a run that had not has it. */
  untrusted: "untrusted",
  source: "source",
});

/** Decides which entries of a scope stay. It gets them oldest first, and gives back those that are kept. A run tells it the time of its clock. */
export interface EvictionPolicy {
  apply(entries: readonly MemoryEntry[], now?: Date): readonly MemoryEntry[];
}

/**
 * Keeps entries by scope, for as long as the store itself lasts. Writes of a run go through the `writeMemory` gateway, so that hooks see them.
 *
 * `retrieve` gives at most `maxResults` entries: the best first where the store understands the query, else the latest, oldest first. A scope that was never
 * written to is empty. Stores are shared by concurrent runs. All methods reject with `ValidationError` for a blank scope or a `maxResults` below 1,
 * and with `MemoryStoreError` where the place they write to fails.
 */
export interface MemoryStore {
  store(scope: string, entry: MemoryEntry): Promise<void>;
  retrieve(scope: string, query: string, maxResults: number): Promise<readonly MemoryEntry[]>;
  evict(scope: string, policy: EvictionPolicy): Promise<void>;
  clear(scope: string): Promise<void>;
  /** Finds out whether the store can read and write its place, and changes nothing. The command `doctor` calls it. @throws MemoryStoreError where it can't. */
  check?(): Awaitable<void>;
  /** Lets go of files and connections. Whoever made the store calls it. */
  close?(): Promise<void>;
}

/** Entries together with the version their scope had when they were read. */
export interface VersionedEntries {
  readonly entries: readonly MemoryEntry[];
  /** 0 for a scope that was never written to; each change of the scope adds 1. */
  readonly version: number;
}

/** A store in which several writers, also of several processes, can agree: versions and locks are kept where the entries are. */
export interface SharedMemoryStore extends MemoryStore {
  retrieveVersioned(scope: string, query: string, maxResults: number): Promise<VersionedEntries>;
  /** Writes if the scope still has this version, in one step; gives the new version. Rejects with `MemoryConflictError` otherwise. */
  storeIf(scope: string, entry: MemoryEntry, expectedVersion: number): Promise<number>;
  /** Does `work` while nobody else holds the lock of this scope. Rejects with `MemoryStoreError` when it is not had within `timeoutMs` (default 30,000). */
  withLock<T>(
    scope: string,
    work: () => Promise<T>,
    options?: { readonly timeoutMs?: number | undefined },
  ): Promise<T>;
}

/** What an agent has learnt in earlier runs; searched before a task, written after it. */
export interface LongTermMemory {
  store(entry: MemoryEntry): Promise<void>;
  /** The entries nearest to the query, best first. */
  retrieve(query: string, maxResults: number): Promise<readonly MemoryEntry[]>;
  /** As `MemoryStore.check`. */
  check?(): Awaitable<void>;
}

/** Facts by name, told by the user or by a tool. */
export interface EntityMemory {
  put(name: string, fact: string): Awaitable<void>;
  get(name: string): Awaitable<string | undefined>;
  /** In the order in which the names were first put. */
  getAll(): Awaitable<ReadonlyMap<string, string>>;
}

/** What the whole team remembers, beside the scopes of its tasks. At least one kind must be on. */
export interface MemoryOptions {
  /**
   * Outputs of earlier tasks of the same run, for every later task; they replace the context of previous tasks in the prompt. Default false.
   * `window` limits them to the last so many, beside those in the task's `context`; an agent's `shortTermWindow` comes before it.
   */
  readonly shortTerm?: boolean | { readonly window: number } | undefined;
  readonly longTerm?: LongTermMemory | undefined;
  readonly entity?: EntityMemory | undefined;
  /** Default 5. */
  readonly longTermMaxResults?: number | undefined;
}

/** How many outputs of a run short-term memory holds for the tasks of an agent; `undefined` where it is off. */
export function shortTermWindow(
  { shortTerm }: MemoryOptions,
  agent: { readonly shortTermWindow?: number | undefined } | undefined,
): number | undefined {
  if (shortTerm === undefined || shortTerm === false) return undefined;
  return agent?.shortTermWindow ?? (shortTerm === true ? Infinity : shortTerm.window);
}

/** How often memory was used. Reads and writes of task scopes are counted apart from those of the team's memory. */
export interface MemoryOperationCounts {
  readonly shortTermEntriesWritten: number;
  readonly longTermStores: number;
  readonly longTermRetrievals: number;
  readonly entityLookups: number;
  readonly scopeReads: number;
  readonly scopeWrites: number;
}
