import assert from "node:assert/strict";
import type { MemoryEntry, MemoryStore } from "../../contracts/memory.js";
import type { Awaitable } from "../../contracts/types.js";

/**
 * A store for a test of `memoryStoreContract`. The suite closes it with `close()`, then calls
 * `dispose`.
 */
export interface MemoryStoreUnderTest {
  /** Empty. */
  readonly store: MemoryStore;
  /** With `reopens`: opens the persisted data, after the suite has closed the store. */
  readonly reopen?: (() => Awaitable<MemoryStore>) | undefined;
  /**
   * For stores that several processes may share: a second object for the same storage. The first
   * object is in use at the same time. The tests of versions and locks then use both.
   */
  readonly another?: (() => Awaitable<MemoryStore>) | undefined;
  /** Closes the objects of `reopen` and `another`, and removes data on disks and servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `memoryStoreContract`, with the features of the stores. */
export interface MemoryStoreContractOptions {
  /** Called once per test. */
  create(): Awaitable<MemoryStoreUnderTest>;
  /**
   * Whether the store searches by meaning. The best entries then come first, and the order of
   * writing is not checked. Default false.
   */
  readonly semantic?: boolean | undefined;
  /**
   * Whether the store is a `SharedMemoryStore`. Versions, conditional writes and locks are then
   * also tested. Default false.
   */
  readonly shared?: boolean | undefined;
  /** Whether its data outlive `close()`. Requires `reopen`. Default false. */
  readonly reopens?: boolean | undefined;
}

/** More results than any test stores. */
export const MANY = 1_000;

/** Creates an entry with a text, stored some milliseconds after the beginning of 2026. */
export function entryOf(content: string, afterMs = 0): MemoryEntry {
  return { content, storedAt: new Date(Date.UTC(2026, 0, 1) + afterMs) };
}

/** Returns the error of `work`. */
export async function rejection(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  return assert.fail("it must be rejected, but was done");
}
