import type { EvictionPolicy, MemoryEntry, MemoryStore, SharedMemoryStore } from "agentensemble";
import { MemoryStore as Stores, ValidationError } from "agentensemble";
import { memoryStoreContract } from "agentensemble/testing";
import type { MemoryStoreContractOptions } from "agentensemble/testing";
import { expect } from "chai";
import { failuresOf } from "./failures-of.js";

/** The titles of the tests that fail for a store. */
function failuresFor(
  create: () => MemoryStore,
  options: Partial<MemoryStoreContractOptions> = {},
): Promise<readonly string[]> {
  return failuresOf(() =>
    memoryStoreContract("under test", { create: () => ({ store: create() }), ...options }),
  );
}

type Methods = { -readonly [K in keyof SharedMemoryStore]?: SharedMemoryStore[K] };

/** A correct store with some broken methods. */
function broken(breaking: (sound: SharedMemoryStore) => Methods): () => SharedMemoryStore {
  return () => {
    const sound = Stores.inMemory();
    const methods: Methods = {
      store: (scope, entry) => sound.store(scope, entry),
      retrieve: (scope, query, n) => sound.retrieve(scope, query, n),
      evict: (scope, policy) => sound.evict(scope, policy),
      clear: (scope) => sound.clear(scope),
      retrieveVersioned: (scope, query, n) => sound.retrieveVersioned(scope, query, n),
      storeIf: (scope, entry, version) => sound.storeIf(scope, entry, version),
      withLock: (scope, work, options) => sound.withLock(scope, work, options),
    };
    return { ...methods, ...breaking(sound) } as SharedMemoryStore; // all methods are there
  };
}

const mapped = (
  sound: SharedMemoryStore,
  change: (entry: MemoryEntry) => MemoryEntry,
): Methods => ({
  retrieve: async (scope, query, n) =>
    Object.freeze(
      (await sound.retrieve(scope, query, n)).map((entry) => Object.freeze(change(entry))),
    ),
});

const violations: Readonly<
  Record<string, readonly [expected: string, create: () => SharedMemoryStore]>
> = {
  "a single scope for all names": [
    "keeps scopes with any names separate",
    broken((s) => ({
      store: (scope, entry) => s.store(scope && "all", entry),
      retrieve: (scope, q, n) => s.retrieve(scope && "all", q, n),
    })),
  ],
  "the oldest instead of the latest": [
    "returns the latest entries, oldest first, for any query",
    broken((s) => ({
      retrieve: async (scope, q, n) => (await s.retrieve(scope, q, Math.max(n, 1_000))).slice(0, n),
    })),
  ],
  "the latest first": [
    "returns the latest entries, oldest first, for any query",
    broken((s) => ({
      retrieve: async (scope, q, n) => [...(await s.retrieve(scope, q, n))].reverse(),
    })),
  ],
  "one entry too many": [
    "returns at most the requested number of entries",
    broken((s) => ({ retrieve: (scope, q, n) => s.retrieve(scope, q, n + 1) })),
  ],
  "times in whole seconds": [
    "keeps content, metadata, structured content and time to the millisecond",
    broken((s) =>
      mapped(s, (e) => ({
        ...e,
        storedAt: new Date(Math.floor(e.storedAt.getTime() / 1_000) * 1_000),
      })),
    ),
  ],
  "no structured content": [
    "keeps the structured content 0",
    broken((s) => mapped(s, ({ structuredContent: _, ...e }) => e)),
  ],
  "no metadata": [
    "keeps content, metadata, structured content and time to the millisecond",
    broken((s) => mapped(s, ({ metadata: _, ...e }) => e)),
  ],
  "normalised unicode": [
    "keeps Unicode, line separators, quotes and control characters",
    broken((s) => mapped(s, (e) => ({ ...e, content: e.content.replaceAll("\u2028", "\n") }))),
  ],
  "a limit on texts": [
    "keeps a long text",
    broken((s) => mapped(s, (e) => ({ ...e, content: e.content.slice(0, 10_000) }))),
  ],
  "results that are not frozen": [
    "returns frozen entries, and a new Date for each reader",
    broken((s) => ({ retrieve: async (scope, q, n) => [...(await s.retrieve(scope, q, n))] })),
  ],
  "no eviction": [
    "keeps the last entries",
    broken((s) => ({
      evict: async (scope, policy) =>
        void (await s.evict(scope, { apply: (e) => (policy.apply(e), e) })),
    })),
  ],
  "kept entries that are not entries of the scope": [
    "changes nothing if a policy throws, or returns anything but a list of its entries",
    broken((s) => ({ evict: (scope, p) => s.evict(scope, { apply: (e) => onlyOwn(p, e) }) })),
  ],
  "no clear": [
    "clears a scope, which can then be filled again",
    broken(() => ({ clear: async (scope) => void checked(scope) })),
  ],
  "no checks": [
    "rejects invalid arguments with the messages of the contract",
    broken((s) => ({
      retrieve: (scope, q, n) => s.retrieve(scope || "x", q, Math.max(1, n || 1)),
    })),
  ],
  "the loss of one entry in eight": ["keeps a hundred entries that are stored at once", losing],
  "versions that do not increase": [
    "counts the changes of each scope, from 0",
    broken((s) => ({
      retrieveVersioned: async (...a) => ({ ...(await s.retrieveVersioned(...a)), version: 0 }),
    })),
  ],
  "ignored conditions": [
    "writes nothing if the scope has another version",
    broken((s) => ({
      storeIf: async (scope, entry) => (
        await s.store(scope, entry),
        (await s.retrieveVersioned(scope, "", 1)).version
      ),
    })),
  ],
  "versions that start again after a clear": [
    "refuses a late write after the scope was cleared",
    forgetful,
  ],
  "no locks": [
    "allows one holder of the lock of a scope at a time, and returns the holder's result",
    broken(() => ({ withLock: async (_scope, work) => work() })),
  ],
  "one lock for all scopes": [
    "locks each scope separately",
    broken((s) => ({
      withLock: (scope, work) => s.withLock(scope.trim() && "all", work, { timeoutMs: 50 }),
    })),
  ],
  "locks without a time limit": [
    "rejects after the time to wait, and does not execute the work",
    broken((s) => ({
      withLock: (scope, work) => s.withLock(scope, work, { timeoutMs: 200 }).catch(() => work()),
    })),
  ],
};

function onlyOwn(policy: EvictionPolicy, entries: readonly MemoryEntry[]): readonly MemoryEntry[] {
  const kept: unknown = policy.apply(entries);
  return Array.isArray(kept) ? entries.filter((entry) => kept.includes(entry)) : entries;
}

function checked(scope: string): void {
  if (typeof scope !== "string" || scope.trim() === "")
    throw new ValidationError("scope must not be null or blank");
}

/** Reads, changes and writes counts with a pause in between. */
function losing(): SharedMemoryStore {
  let count = 0;
  return broken((s) => ({
    store: async (scope, entry) => (++count % 8 === 0 ? undefined : s.store(scope, entry)),
  }))();
}

/** Drops the version of a scope with its entries. */
function forgetful(): SharedMemoryStore {
  let current = Stores.inMemory();
  return broken(() => ({
    store: (scope, entry) => current.store(scope, entry),
    retrieve: (scope, q, n) => current.retrieve(scope, q, n),
    retrieveVersioned: (scope, q, n) => current.retrieveVersioned(scope, q, n),
    storeIf: (scope, entry, version) => current.storeIf(scope, entry, version),
    clear: async (scope) => {
      checked(scope);
      current = Stores.inMemory();
    },
  }))();
}

describe("memoryStoreContract()", () => {
  it("accepts a correct store", async () => {
    expect(await failuresFor(Stores.inMemory, { shared: true })).to.deep.equal([]);
  });

  for (const [what, [title, create]] of Object.entries(violations)) {
    it(`detects ${what}`, async () => {
      expect(await failuresFor(create, { shared: true })).to.include(title);
    });
  }

  it("detects a store that declares persistence and does not persist", async () => {
    const create = (): { readonly store: MemoryStore; readonly reopen: () => MemoryStore } => ({
      store: Stores.inMemory(),
      reopen: () => Stores.inMemory(),
    });
    expect(await failuresFor(Stores.inMemory, { create, reopens: true })).to.deep.equal([
      "keeps everything after it was closed and opened",
    ]);
  });

  it("detects a store that declares semantic search and does not search by meaning", async () => {
    expect(await failuresFor(Stores.inMemory, { semantic: true })).to.include(
      "returns the entry that equals the query first",
    );
  });

  it("tests versions and locks only of stores that declare them", async () => {
    const plain = (): MemoryStore =>
      broken(() => ({
        retrieveVersioned: undefined as never,
        storeIf: undefined as never,
        withLock: undefined as never,
      }))();
    expect(await failuresFor(plain)).to.deep.equal([]);
    expect((await failuresFor(plain, { shared: true })).length).to.be.greaterThan(10);
  });

  it("uses both objects of a shared store", async () => {
    const create = (): { readonly store: MemoryStore; readonly another: () => MemoryStore } => ({
      store: Stores.inMemory(),
      another: () => Stores.inMemory(),
    });
    expect(await failuresFor(Stores.inMemory, { create, shared: true })).to.include(
      "accepts only one of many concurrent writes with the same version",
    );
  });

  it("refuses unknown options", () => {
    expect(() =>
      memoryStoreContract("x", {
        create: () => ({ store: Stores.inMemory() }),
        semantics: true,
      } as never),
    ).to.throw(ValidationError, "semantic");
  });
});
