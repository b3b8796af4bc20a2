import assert from "node:assert/strict";
import type { EvictionPolicy } from "../../contracts/memory.js";
import { ValidationError } from "../../contracts/errors.js";
import { keepEntriesWithin, keepLastEntries } from "../../contracts/memory-scope.js";
import type { Use, Holds } from "./memory-store-contents.js";
import { FRUITS, UNICODE, STRUCTURED, contents, fill } from "./memory-store-contents.js";
import { entryOf, MANY, rejection } from "./memory-store-scenario.js";

export function evictionSuite(use: Use, holds: Holds): void {
  it("keeps the last entries", () =>
    use(async (store) => {
      await fill(store, "fruit");
      await fill(store, "other");
      await store.evict("fruit", keepLastEntries(2));
      await holds(store, "fruit", FRUITS.slice(-2));
      await holds(store, "other", FRUITS);
    }));
  it("keeps the entries within a duration", () =>
    use(async (store) => {
      const past = new Date("2001-01-01T00:00:00Z");
      const future = new Date("2999-01-01T00:00:00Z");
      for (const [text, storedAt] of [
        ["an apple", past],
        ["a banana", future],
        ["a cherry", past],
      ] as const)
        await store.store("fruit", { content: text, storedAt });
      await store.evict(
        "fruit",
        keepEntriesWithin(60_000, { now: () => new Date("2026-01-01T00:00:00Z") }),
      );
      await holds(store, "fruit", ["a banana"]);
    }));
  it("passes all entries to a policy, oldest first, and keeps those that it returns", () =>
    use(async (store) => {
      await fill(store, "fruit");
      let asked: readonly string[] = [];
      const everySecond: EvictionPolicy = {
        apply: (entries) => {
          asked = entries.map(({ content }) => content);
          return entries.filter((_, index) => index % 2 === 0).reverse();
        },
      };
      await store.evict("fruit", everySecond);
      assert.deepEqual(asked, FRUITS);
      await holds(
        store,
        "fruit",
        FRUITS.filter((_, index) => index % 2 === 0),
      );
      await store.store("fruit", entryOf("a fig"));
      await store.evict("fruit", { apply: () => [] });
      await holds(store, "fruit", []);
    }));
}

export function faultyPolicySuite(use: Use, holds: Holds): void {
  it("changes nothing if a policy throws, or returns anything but a list of its entries", () =>
    use(async (store) => {
      await fill(store, "fruit");
      const broken = new Error("broken policy");
      const throwing: EvictionPolicy = {
        apply: () => {
          throw broken;
        },
      };
      assert.equal(await rejection(store.evict("fruit", throwing)), broken);
      for (const answer of [undefined, "all", [entryOf("a stranger")]]) {
        // violates the contract on purpose
        const policy = { apply: () => answer } as unknown as EvictionPolicy;
        assert.ok(ValidationError.isInstance(await rejection(store.evict("fruit", policy))));
      }
      await holds(store, "fruit", FRUITS);
    }));
}

export function clearSuite(use: Use, holds: Holds): void {
  it("clears a scope, which can then be filled again", () =>
    use(async (store) => {
      await fill(store, "fruit");
      await store.clear("fruit");
      await holds(store, "fruit", []);
      await store.store("fruit", entryOf("a fig"));
      await holds(store, "fruit", ["a fig"]);
    }));
  it("accepts evict() and clear() for a scope that was never written to", () =>
    use(async (store) => {
      await store.evict("nobody", keepLastEntries(1));
      await store.clear("nobody");
      await holds(store, "nobody", []);
    }));
}

export function concurrencySuite(use: Use, holds: Holds): void {
  it("keeps a hundred entries that are stored at once", () =>
    use(async (store) => {
      const texts = Array.from({ length: 100 }, (_, i) => `apple number ${i}`);
      await Promise.all(texts.map((text) => store.store("crowd", entryOf(text))));
      const found = await contents(store, "crowd", "apple number", MANY);
      assert.deepEqual([...found].sort(), [...texts].sort());
    }));
  it("reads, evicts and clears during concurrent writes", () =>
    use(async (store) => {
      const work: Promise<unknown>[] = [];
      for (let i = 0; i < 20; i++) {
        work.push(
          store.store("busy", entryOf(`apple ${i}`)),
          store.retrieve("busy", "apple", 5),
          store.store("calm", entryOf(`apple ${i}`)),
        );
        if (i % 5 === 4) work.push(store.evict("busy", keepLastEntries(3)));
      }
      await Promise.all(work);
      await store.evict("busy", keepLastEntries(3));
      assert.equal((await contents(store, "busy", "apple", MANY)).length, 3);
      assert.equal((await contents(store, "calm", "apple", MANY)).length, 20);
      await store.clear("busy");
      await holds(store, "busy", []);
    }));
}

export function reopenSuite(use: Use, holds: Holds): void {
  it("keeps everything after it was closed and opened", () =>
    use(async (store, { reopen }) => {
      await fill(store, "fruit");
      await store.store("whole", {
        ...entryOf(UNICODE, 123),
        structuredContent: STRUCTURED,
        metadata: { a: "1" },
      });
      await fill(store, "evicted");
      await store.evict("evicted", keepLastEntries(1));
      await fill(store, "cleared");
      await store.clear("cleared");
      const before = await store.retrieve("whole", UNICODE, 1);
      await store.close?.();
      const again = (await reopen?.()) ?? assert.fail("reopen is needed");
      await holds(again, "fruit", FRUITS);
      await holds(again, "evicted", FRUITS.slice(-1));
      await holds(again, "cleared", []);
      assert.deepEqual(await again.retrieve("whole", UNICODE, 1), before);
      await again.store("fruit", entryOf("a fig"));
      await holds(again, "fruit", [...FRUITS, "a fig"]);
    }));
}
