import assert from "node:assert/strict";
import type { MemoryEntry, MemoryStore } from "../../contracts/memory.js";
import type { MemoryStoreContractOptions } from "./memory-store-scenario.js";
import { ValidationError } from "../../contracts/errors.js";
import { keepLastEntries } from "../../contracts/memory-scope.js";
import { checkOptions } from "../../contracts/validation.js";
import { sharedMemorySuite } from "./shared-memory-suite.js";
import type { Use, Holds } from "./memory-store-contents.js";
import {
  FRUITS,
  UNICODE,
  SCOPES,
  STRUCTURED,
  contents,
  holdsInOrder,
  holdsSomehow,
  fill,
} from "./memory-store-contents.js";
import { entryOf, MANY, rejection } from "./memory-store-scenario.js";
import {
  evictionSuite,
  faultyPolicySuite,
  clearSuite,
  concurrencySuite,
  reopenSuite,
} from "./memory-store-changes.js";

function retrievalSuite(use: Use, semantic: boolean): void {
  it("returns no entries for a scope that was never written to", () =>
    use(async (store) => {
      assert.deepEqual(await store.retrieve("nobody", "apple", 5), []);
    }));
  it("returns at most the requested number of entries", () =>
    use(async (store) => {
      await fill(store, "fruit");
      for (const n of [1, 2, FRUITS.length, MANY]) {
        const found = await contents(store, "fruit", FRUITS[0], n);
        assert.ok(
          found.length <= Math.min(n, FRUITS.length),
          `asked for ${n}, got ${found.length}`,
        );
        assert.ok(found.length > 0, `asked for ${n}, got none`);
        assert.equal(new Set(found).size, found.length, "an entry came twice");
      }
    }));
  it("answers an empty query", () =>
    use(async (store) => {
      await fill(store, "fruit");
      for (const query of ["", "  "])
        assert.ok((await store.retrieve("fruit", query, 2)).length <= 2);
    }));
  if (semantic) {
    it("returns the entry that equals the query first", () =>
      use(async (store) => {
        await fill(store, "fruit");
        for (const text of FRUITS) assert.equal((await contents(store, "fruit", text, 1))[0], text);
      }));
    return;
  }
  it("returns the latest entries, oldest first, for any query", () =>
    use(async (store) => {
      await fill(store, "fruit");
      for (const query of ["", FRUITS[0], "something else"]) {
        assert.deepEqual(await contents(store, "fruit", query), FRUITS);
        assert.deepEqual(await contents(store, "fruit", query, 2), FRUITS.slice(-2));
      }
    }));
}

function isolationSuite(use: Use, holds: Holds): void {
  it("keeps scopes with any names separate", () =>
    use(async (store) => {
      for (const scope of SCOPES) await store.store(scope, entryOf(`an apple of ${scope}`));
      for (const scope of SCOPES) await holds(store, scope, [`an apple of ${scope}`]);
      await store.clear(SCOPES[0] ?? "");
      await holds(store, SCOPES[0] ?? "", []);
      for (const scope of SCOPES.slice(1)) await holds(store, scope, [`an apple of ${scope}`]);
    }));
  it("finds the entries of a small scope next to a large scope", () =>
    use(async (store) => {
      for (let i = 0; i < 30; i++) await store.store("large", entryOf(`an apple a day ${i}`));
      await store.store("small", entryOf("an apple a day"));
      assert.deepEqual(await contents(store, "small", "an apple a day", 1), ["an apple a day"]);
    }));
}

/**
 * Returns a copy with the prototypes of this file. `structuredClone` uses others if a runner has
 * separate globals.
 */
function throughJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function entrySuite(use: Use): void {
  const roundTrip = async (store: MemoryStore, entry: MemoryEntry): Promise<MemoryEntry> => {
    await store.store("trip", entry);
    const [found] = await store.retrieve("trip", entry.content, 1);
    return found ?? assert.fail("the entry was not found again");
  };
  it("keeps content, metadata, structured content and time to the millisecond", () =>
    use(async (store) => {
      const entry = {
        content: FRUITS[0] ?? "",
        structuredContent: STRUCTURED,
        storedAt: new Date(1_767_225_600_123),
        metadata: { agentRole: "Cook", scope: "x", storedAt: "y" },
      };
      const found = await roundTrip(store, entry);
      assert.ok(found.storedAt instanceof Date, "storedAt must be a Date");
      assert.deepEqual(throughJson(found), throughJson(entry));
    }));
  it("omits the missing fields of an entry", () =>
    use(async (store) => {
      const found = await roundTrip(store, entryOf("an apple a day"));
      assert.equal(found.structuredContent, undefined);
      assert.deepEqual(found.metadata ?? {}, {});
    }));
  for (const structuredContent of [null, 0, "", false, [], {}]) {
    it(`keeps the structured content ${JSON.stringify(structuredContent)}`, () =>
      use(async (store) => {
        assert.deepEqual(
          (await roundTrip(store, { ...entryOf("an apple"), structuredContent })).structuredContent,
          structuredContent,
        );
      }));
  }
  it("keeps Unicode, line separators, quotes and control characters", () =>
    use(async (store) => {
      const found = await roundTrip(store, {
        ...entryOf(UNICODE),
        structuredContent: { [UNICODE]: UNICODE },
        metadata: { [UNICODE]: UNICODE },
      });
      assert.equal(found.content, UNICODE);
      assert.deepEqual({ ...found.metadata }, { [UNICODE]: UNICODE });
      assert.deepEqual(throughJson(found.structuredContent), { [UNICODE]: UNICODE });
    }));
  it("keeps a long text", () =>
    use(async (store) => {
      const long = "an apple a day keeps the doctor away ".repeat(5_000);
      assert.equal((await roundTrip(store, entryOf(long))).content, long);
    }));
}

function copySuite(use: Use): void {
  it("keeps an entry unchanged when the caller changes it later", () =>
    use(async (store) => {
      const structuredContent = { list: [1] };
      const entry = { ...entryOf("an apple"), structuredContent, metadata: { a: "1" } };
      const time = entry.storedAt.getTime();
      // the entry is changed during and after the write
      const writing = store.store("copies", entry);
      structuredContent.list.push(2);
      entry.metadata.a = "2";
      entry.storedAt.setTime(0);
      await writing;
      const [found] = await store.retrieve("copies", "an apple", 1);
      assert.deepEqual(found?.structuredContent, { list: [1] });
      assert.equal(found?.metadata?.["a"], "1");
      assert.equal(found?.storedAt.getTime(), time);
    }));
  it("returns frozen entries, and a new Date for each reader", () =>
    use(async (store) => {
      await store.store("copies", {
        ...entryOf("an apple"),
        structuredContent: { list: [{}] },
        metadata: { a: "1" },
      });
      const results = await store.retrieve("copies", "an apple", 1);
      const [found] = results;
      const list = (found?.structuredContent as { readonly list: readonly unknown[] }).list; // stored above
      for (const value of [
        results,
        found,
        found?.metadata,
        found?.structuredContent,
        list,
        list[0],
      ])
        assert.ok(Object.isFrozen(value), `not frozen: ${JSON.stringify(value)}`);
      const time = found?.storedAt.getTime();
      found?.storedAt.setTime(0);
      const [again] = await store.retrieve("copies", "an apple", 1);
      assert.equal(again?.storedAt.getTime(), time);
    }));
}

/** Returns calls that a store rejects, each with the message. */
function refusedCalls(
  entry: MemoryEntry,
): readonly (readonly [string, (store: MemoryStore) => Promise<unknown>])[] {
  const missing = undefined as never; // plain JavaScript permits it
  return [
    ...["", " \t", missing].flatMap((scope) => [
      [
        "scope must not be null or blank",
        (store: MemoryStore) => store.store(scope, entry),
      ] as const,
      [
        "scope must not be null or blank",
        (store: MemoryStore) => store.retrieve(scope, "q", 1),
      ] as const,
      [
        "scope must not be null or blank",
        (store: MemoryStore) => store.evict(scope, keepLastEntries(1)),
      ] as const,
      ["scope must not be null or blank", (store: MemoryStore) => store.clear(scope)] as const,
    ]),
    ["entry must not be null", (store) => store.store("s", missing)],
    ["entry content must not be null", (store) => store.store("s", { ...entry, content: missing })],
    ["policy must not be null", (store) => store.evict("s", missing)],
    ...[0, -1, 1.5, Number.NaN].map(
      (n) =>
        [
          `maxResults must be > 0, got: ${n}`,
          (store: MemoryStore) => store.retrieve("s", "q", n),
        ] as const,
    ),
  ];
}

function validationSuite(use: Use): void {
  const entry = entryOf("an apple");
  it("rejects invalid arguments with the messages of the contract", () =>
    use(async (store) => {
      for (const [message, act] of refusedCalls(entry)) {
        const error = await rejection(act(store));
        assert.ok(
          ValidationError.isInstance(error),
          `expected a ValidationError '${message}', got ${String(error)}`,
        );
        assert.equal(error.message.replace("got: null", "got: NaN"), message); // JSON has no NaN
      }
      assert.deepEqual(await store.retrieve("s", "an apple", MANY), []);
    }));
  it("rejects entries that can't be stored unchanged, and stores nothing", () =>
    use(async (store) => {
      const cycle: Record<string, unknown> = {};
      cycle["self"] = cycle;
      const unsound: readonly unknown[] = [
        { ...entry, storedAt: new Date(Number.NaN) },
        { ...entry, storedAt: "2026-01-01" },
        { ...entry, content: 5 },
        { ...entry, metadata: { a: 1 } },
        { ...entry, structuredContent: cycle },
        { ...entry, structuredContent: 5n },
        { ...entry, structuredContent: () => 1 },
      ];
      for (const value of unsound)
        assert.ok(
          ValidationError.isInstance(await rejection(store.store("s", value as MemoryEntry))),
        ); // unsound on purpose
      assert.deepEqual(await store.retrieve("s", "an apple", MANY), []);
    }));
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every memory store should
 * pass.
 *
 * @example
 * memoryStoreContract("mine", { create: async () => ({ store: await openMine() }), shared: true });
 * @throws ValidationError for an unknown option.
 */
export function memoryStoreContract(name: string, options: MemoryStoreContractOptions): void {
  checkOptions("memoryStoreContract()", options, ["create", "semantic", "shared", "reopens"]);
  const { semantic = false, shared = false, reopens = false } = options;
  const use: Use = async (body) => {
    const subject = await options.create();
    try {
      await body(subject.store, subject);
    } finally {
      await subject.store.close?.();
      await subject.dispose?.();
    }
  };
  const holds = semantic ? holdsSomehow : holdsInOrder;
  describe(`memory store contract: ${name}`, () => {
    retrievalSuite(use, semantic);
    isolationSuite(use, holds);
    entrySuite(use);
    copySuite(use);
    evictionSuite(use, holds);
    faultyPolicySuite(use, holds);
    clearSuite(use, holds);
    validationSuite(use);
    concurrencySuite(use, holds);
    if (shared) sharedMemorySuite(use);
    if (reopens) reopenSuite(use, holds);
  });
}
