import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { MemoryStore, SharedMemoryStore } from "../../contracts/memory.js";
import type { MemoryStoreUnderTest } from "./memory-store-scenario.js";
import { MemoryConflictError, MemoryStoreError } from "../../contracts/state-errors.js";
import { ValidationError } from "../../contracts/errors.js";
import { keepLastEntries } from "../../contracts/memory-scope.js";
import { entryOf, MANY, rejection } from "./memory-store-scenario.js";

type Use = (
  body: (store: MemoryStore, subject: MemoryStoreUnderTest) => Promise<void>,
) => Promise<void>;
/** Passes both objects for one storage. Passes the same object twice if there is only one. */
type UseBoth = (
  body: (one: SharedMemoryStore, other: SharedMemoryStore) => Promise<void>,
) => Promise<void>;

function sharing(store: MemoryStore): SharedMemoryStore {
  for (const method of ["retrieveVersioned", "storeIf", "withLock"]) {
    assert.equal(
      typeof (store as unknown as Record<string, unknown>)[method],
      "function",
      `a shared store must have ${method}()`,
    ); // any value is possible
  }
  return store as SharedMemoryStore; // asserted above
}

async function storedVersion(store: SharedMemoryStore, scope: string): Promise<number> {
  return (await store.retrieveVersioned(scope, "apple", 1)).version;
}

function versionSuite(use: UseBoth): void {
  it("counts the changes of each scope, from 0", () =>
    use(async (store, other) => {
      assert.deepEqual(await store.retrieveVersioned("s", "apple", 5), { entries: [], version: 0 });
      await store.store("s", entryOf("an apple"));
      assert.equal(await store.storeIf("s", entryOf("an apple pie"), 1), 2);
      await other.store("other", entryOf("an apple"));
      assert.equal(await storedVersion(other, "s"), 2);
      await other.evict("s", keepLastEntries(1));
      assert.equal(await storedVersion(store, "s"), 3);
      await store.clear("s");
      assert.equal(await storedVersion(other, "s"), 4);
      assert.equal(await storedVersion(store, "other"), 1);
    }));
  it("counts no change if nothing was changed", () =>
    use(async (store) => {
      await store.clear("never");
      assert.equal(await storedVersion(store, "never"), 0);
      await store.store("s", entryOf("an apple"));
      await store.evict("s", keepLastEntries(5));
      assert.equal(await storedVersion(store, "s"), 1);
    }));
  it("returns the entries together with their version", () =>
    use(async (store) => {
      const writing = Promise.all(
        Array.from({ length: 10 }, (_, i) => store.store("s", entryOf(`apple ${i}`))),
      );
      const readings = await Promise.all(
        Array.from({ length: 10 }, () => store.retrieveVersioned("s", "apple", MANY)),
      );
      for (const { entries, version } of readings) assert.equal(entries.length, version);
      await writing;
    }));
}

function staleWriteSuite(use: UseBoth): void {
  it("writes nothing if the scope has another version", () =>
    use(async (store, other) => {
      await other.store("s", entryOf("an apple"));
      for (const expected of [0, 2]) {
        const error = await rejection(store.storeIf("s", entryOf("a banana"), expected));
        assert.ok(
          MemoryConflictError.isInstance(error),
          `expected a MemoryConflictError, got ${String(error)}`,
        );
        assert.equal(error.message, `Version conflict in scope 's': expected version ${expected}`);
        assert.deepEqual([error.scope, error.expectedVersion], ["s", expected]);
      }
      const { entries, version } = await other.retrieveVersioned("s", "apple", MANY);
      assert.deepEqual([entries.length, version], [1, 1]);
    }));
  it("refuses a late write after the scope was cleared", () =>
    use(async (store, other) => {
      await store.clear("s");
      await store.store("s", entryOf("an apple"));
      await other.clear("s");
      assert.ok(
        MemoryConflictError.isInstance(await rejection(store.storeIf("s", entryOf("an apple"), 1))),
      );
      assert.ok(
        MemoryConflictError.isInstance(await rejection(store.storeIf("s", entryOf("an apple"), 0))),
      );
    }));
}

function conflictSuite(use: UseBoth): void {
  it("accepts only one of many concurrent writes with the same version", () =>
    use(async (store, other) => {
      const attempts = Array.from({ length: 12 }, (_, i) =>
        (i % 2 === 0 ? store : other).storeIf("s", entryOf(`apple ${i}`), 0),
      );
      const results = await Promise.allSettled(attempts);
      assert.deepEqual(results.filter(({ status }) => status === "fulfilled").length, 1);
      for (const result of results)
        if (result.status === "rejected")
          assert.ok(MemoryConflictError.isInstance(result.reason), String(result.reason));
      assert.equal((await store.retrieve("s", "apple", MANY)).length, 1);
    }));
  it("loses no write of clients that retry after a conflict", () =>
    use(async (store, other) => {
      const write = async (mine: SharedMemoryStore, text: string): Promise<void> => {
        for (let attempt = 0; attempt < MANY; attempt++) {
          const version = await storedVersion(mine, "s");
          try {
            assert.equal(await mine.storeIf("s", entryOf(text), version), version + 1);
            return;
          } catch (error) {
            if (!MemoryConflictError.isInstance(error)) throw error;
          }
        }
        assert.fail(`'${text}' met a conflict ${MANY} times`);
      };
      await Promise.all(
        Array.from({ length: 8 }, (_, i) => write(i % 2 === 0 ? store : other, `apple ${i}`)),
      );
      const { entries, version } = await store.retrieveVersioned("s", "apple", MANY);
      assert.deepEqual([entries.length, version], [8, 8]);
    }));
  it("rejects an invalid expected version", () =>
    use(async (store) => {
      for (const version of [-1, 0.5, Number.NaN])
        assert.ok(
          ValidationError.isInstance(await rejection(store.storeIf("s", entryOf("x"), version))),
        );
    }));
}

function lockSuite(use: UseBoth): void {
  it("allows one holder of the lock of a scope at a time, and returns the holder's result", () =>
    use(async (store, other) => {
      let holders = 0;
      const work = async (i: number): Promise<number> => {
        assert.equal(++holders, 1, "two held the lock");
        await pause(1);
        holders--;
        return i;
      };
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          (i % 2 === 0 ? store : other).withLock("s", () => work(i)),
        ),
      );
      assert.deepEqual(results, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }));
  it("locks each scope separately", () =>
    use(async (store, other) => {
      assert.equal(
        await store.withLock("s", () => other.withLock("other", async () => "both")),
        "both",
      );
    }));
  it("allows the holder of a lock to read and write", () =>
    use(async (store) => {
      await store.withLock("s", () => store.store("s", entryOf("an apple")));
      assert.equal((await store.withLock("s", () => store.retrieve("s", "apple", 1))).length, 1);
    }));
}

function lockEndSuite(use: UseBoth): void {
  it("rejects after the time to wait, and does not execute the work", () =>
    use(async (store, other) => {
      let worked = false;
      await store.withLock("s", async () => {
        const late = other.withLock("s", async () => void (worked = true), { timeoutMs: 20 });
        const error = await rejection(late);
        assert.ok(
          MemoryStoreError.isInstance(error),
          `expected a MemoryStoreError, got ${String(error)}`,
        );
        assert.equal(error.scope, "s");
      });
      assert.equal(await other.withLock("s", async () => "free"), "free");
      assert.equal(worked, false);
    }));
  it("releases the lock when the work fails, and rejects with its error", () =>
    use(async (store, other) => {
      const broken = new Error("broken work");
      assert.equal(await rejection(store.withLock("s", () => Promise.reject(broken))), broken);
      const throwing = (): Promise<never> => {
        throw broken;
      };
      assert.equal(await rejection(store.withLock("s", throwing)), broken);
      assert.equal(await other.withLock("s", async () => "free", { timeoutMs: 1_000 }), "free");
    }));
  it("rejects an invalid lock", () =>
    use(async (store) => {
      const work = async (): Promise<void> => undefined;
      for (const timeoutMs of [0, -1, Number.NaN])
        assert.ok(
          ValidationError.isInstance(await rejection(store.withLock("s", work, { timeoutMs }))),
        );
      assert.ok(ValidationError.isInstance(await rejection(store.withLock(" ", work))));
    }));
}

/** The tests of versions, conditional writes and locks: a part of `memoryStoreContract`. */
export function sharedMemorySuite(use: Use): void {
  const useBoth: UseBoth = (body) =>
    use(async (store, { another }) => {
      await body(sharing(store), sharing((await another?.()) ?? store));
    });
  versionSuite(useBoth);
  staleWriteSuite(useBoth);
  conflictSuite(useBoth);
  lockSuite(useBoth);
  lockEndSuite(useBoth);
}
