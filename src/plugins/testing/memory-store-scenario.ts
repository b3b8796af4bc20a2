import assert from "node:assert/strict";
import type { MemoryEntry, MemoryStore } from "../../contracts/memory.js";
import type { Awaitable } from "../../contracts/types.js";

/** A store as a test of `memoryStoreContract` gets it. The suite closes it by its own `close()`, then calls `dispose`. */
export interface MemoryStoreUnderTest {
  /** Empty. */
  readonly store: MemoryStore;
  /** With `reopens`: opens what the store has left, after the suite has closed it. */
  readonly reopen?: (() => Awaitable<MemoryStore>) | undefined;
  /** For stores that several processes may share: a second object over the same place, while the first is in use. The tests of versions and locks then use both. */
  readonly another?: (() => Awaitable<MemoryStore>) | undefined;
  /** Closes what `reopen` and `another` gave, and removes what lies on disks and servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** How `memoryStoreContract` gets its stores, and what they can do. */
export interface MemoryStoreContractOptions {
  /** Called once per test. */
  create(): Awaitable<MemoryStoreUnderTest>;
  /** The store finds by meaning: the best entries come first, so that the order of writing is not asked for. Default false. */
  readonly semantic?: boolean | undefined;
  /** The store is a `SharedMemoryStore`: versions, conditional writes and locks are tested too. Default false. */
  readonly shared?: boolean | undefined;
  /** What the store keeps outlasts `close()`: needs `reopen`. Default false. */
  readonly reopens?: boolean | undefined;
}

/** More results than any test stores. */
export const MANY = 1_000;

/** An entry with a text, stored some milliseconds after the beginning of 2026. */
export function entryOf(content: string, afterMs = 0): MemoryEntry {
  return { content, storedAt: new Date(Date.UTC(2026, 0, 1) + afterMs) };
}

/** What `work` rejects with. */
export async function rejection(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  return assert.fail("it must be rejected, but was done");
}
