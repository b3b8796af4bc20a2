import assert from "node:assert/strict";
import type { ResultStore, WorkResponse } from "../../contracts/network.js";
import type { Awaitable } from "../../contracts/types.js";
import { checkOptions } from "../../contracts/validation.js";
import { asData, endsSoon, LONG_MS, delay, resultNamed } from "./request-queue-scenario.js";

/** A store for a test of `resultStoreContract`. */
export interface ResultStoreUnderTest {
  /** Empty. */
  readonly store: ResultStore;
  /** Another client of the same storage, as in another process. The suite closes it. */
  readonly another?: (() => Awaitable<ResultStore>) | undefined;
  /** With `reopens`: opens the persisted data, after the suite has closed the store. */
  readonly reopen?: (() => Awaitable<ResultStore>) | undefined;
  /** The number of subscriptions of the store. It must be 0 after each test. */
  readonly subscriptions?: (() => Awaitable<number>) | undefined;
  /** Closes everything, and removes data on disks and servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `resultStoreContract`, with the features of the stores. */
export interface ResultStoreContractOptions {
  /** Called once per test. */
  create(): Awaitable<ResultStoreUnderTest>;
  /** Whether results outlive `close()`. Requires `reopen`. Default false. */
  readonly reopens?: boolean | undefined;
  /** The shortest time in milliseconds for which results are kept. Default 50. */
  readonly ttlMs?: number | undefined;
}

interface ResultScenario extends ResultStoreUnderTest {
  readonly other: ResultStore;
  readonly ttlMs: number;
}
type UseResult = (body: (scenario: ResultScenario) => Promise<void>) => Promise<void>;

function keepingSuite(use: UseResult): void {
  it("keeps a complete result, with unknown fields", () =>
    use(async ({ store, other }) => {
      assert.equal(await other.retrieve("r1"), undefined);
      const usage = [{ provider: "openai", modelId: "m", inputTokens: 3, calls: 1 }];
      const parsed = { a: [1, null, { b: "\u2028 \u{1F980}" }] };
      const response = { ...resultNamed("r1"), parsed, usage, vendorField: true };
      assert.equal(await store.store("r1", response, LONG_MS), true);
      assert.deepEqual(asData(await other.retrieve("r1")), asData(response));
    }));
  it("keeps a result unchanged when the caller changes it later", () =>
    use(async ({ store }) => {
      const parsed = { a: 1 };
      await store.store("r1", { ...resultNamed("r1"), parsed }, LONG_MS);
      parsed.a = 2;
      assert.deepEqual({ ...((await store.retrieve("r1"))?.parsed as object) }, { a: 1 }); // stored
    }));
  it("keeps the first of four results that are stored concurrently", () =>
    use(async ({ store, other }) => {
      const storing = [store, other, store, other].map(
        async (client, n) =>
          [
            `result ${n}`,
            await client.store("r1", resultNamed("r1", `result ${n}`), LONG_MS),
          ] as const,
      );
      const kept = (await Promise.all(storing)).filter(([, isKept]) => isKept);
      assert.equal(kept.length, 1, "one result is kept");
      assert.equal((await other.retrieve("r1"))?.result, kept[0]?.[0]);
      assert.equal(await store.store("r1", resultNamed("r1", "late"), LONG_MS), false);
      assert.equal((await store.retrieve("r1"))?.result, kept[0]?.[0]);
    }));
}

function endingResultSuite(use: UseResult): void {
  it("forgets a result, and then accepts another", () =>
    use(async ({ store, other }) => {
      await store.store("r1", resultNamed("r1", "first"), LONG_MS);
      await other.forget("r1");
      await other.forget("unknown");
      assert.equal(await store.retrieve("r1"), undefined);
      assert.equal(await store.store("r1", resultNamed("r1", "second"), LONG_MS), true);
      assert.equal((await other.retrieve("r1"))?.result, "second");
    }));
  it("removes an expired result", () =>
    use(async ({ store, other, ttlMs }) => {
      await store.store("short", resultNamed("short"), ttlMs);
      await store.store("long", resultNamed("long"), LONG_MS);
      await delay(2 * ttlMs);
      assert.equal(await other.retrieve("short"), undefined);
      assert.equal(await store.store("short", resultNamed("short", "again"), LONG_MS), true);
      assert.equal((await other.retrieve("long"))?.result, "done by long");
    }));
  it("keeps 8 MB, any Unicode, and unusual names as ids", () =>
    use(async ({ store, other }) => {
      const large = "0123456789abcdé\u{1F980}".repeat(500_000);
      await store.store("large", resultNamed("large", large), LONG_MS);
      const ids = [
        "__proto__",
        "constructor",
        "a/b:c*d?e|f.g",
        "größer \u{1F980}",
        "x".repeat(200),
      ];
      for (const id of ids) {
        assert.equal(await other.retrieve(id), undefined);
        assert.equal(await store.store(id, resultNamed(id, "\u2028 \u0001 \ud800"), LONG_MS), true);
        assert.equal((await other.retrieve(id))?.result, "\u2028 \u0001 \ud800", id);
      }
      assert.ok((await other.retrieve("large"))?.result === large, "the large result differs");
    }));
}

function subscribingSuite(use: UseResult): void {
  it("calls a subscriber of another client once, when the result is stored", () =>
    use(async ({ store, other }) => {
      const seen: WorkResponse[] = [];
      const called = new Promise<void>((resolve, reject) => {
        other
          .subscribe("r1", (response) => {
            seen.push(response);
            resolve();
          })
          .then(() => store.store("r1", resultNamed("r1"), LONG_MS))
          .catch(reject);
      });
      await endsSoon(called, WAKE_MS);
      await store.store("r1", resultNamed("r1", "late"), LONG_MS);
      await delay(50);
      assert.deepEqual(
        seen.map(({ result }) => result),
        ["done by r1"],
      );
    }));
  it("calls a subscriber immediately if there is a result", () =>
    use(async ({ store, other }) => {
      await store.store("r1", resultNamed("r1"), LONG_MS);
      const called = new Promise<WorkResponse>((resolve, reject) => {
        other.subscribe("r1", resolve).catch(reject);
      });
      assert.equal((await endsSoon(called, WAKE_MS)).result, "done by r1");
    }));
}

function racingSuite(use: UseResult): void {
  it("calls a subscriber exactly once in forty races of storing and subscribing", () =>
    use(async ({ store, other }) => {
      const counts = await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          const id = `r${n}`;
          let count = 0;
          const called = new Promise<void>((resolve) => {
            const subscribing = async (): Promise<unknown> =>
              other.subscribe(id, () => {
                count++;
                resolve();
              });
            const storing = (): Promise<unknown> => store.store(id, resultNamed(id), LONG_MS);
            void Promise.all(
              n % 2 === 0 ? [subscribing(), storing()] : [storing(), subscribing()],
            ).catch(() => undefined); // the wait ends without a call
          });
          await endsSoon(called);
          return () => count;
        }),
      );
      await delay(50);
      assert.deepEqual(new Set(counts.map((count) => count())), new Set([1]));
    }));
  it("calls no subscriber that has unsubscribed, and calls the next after one that fails", () =>
    use(async ({ store, other }) => {
      const seen: string[] = [];
      const leave = await other.subscribe("r1", () => void seen.push("left"));
      leave();
      leave();
      await other.subscribe("r1", () => {
        throw new Error("a subscriber that fails on purpose");
      });
      const called = new Promise<void>((resolve, reject) => {
        other
          .subscribe("r1", () => {
            seen.push("stayed");
            resolve();
          })
          .then(() => store.store("r1", resultNamed("r1"), LONG_MS))
          .catch(reject);
      });
      await endsSoon(called, WAKE_MS);
      await delay(20);
      assert.deepEqual(seen, ["stayed"]);
    }));
}

function resultReopeningSuite(use: UseResult): void {
  it("keeps its results after it was closed", () =>
    use(async ({ store, reopen }) => {
      await store.store("r1", resultNamed("r1"), LONG_MS);
      await store.store("r2", resultNamed("r2"), LONG_MS);
      await store.forget("r2");
      await store.close?.();
      const again = (await reopen?.()) ?? assert.fail("a store that reopens needs `reopen`");
      assert.equal((await again.retrieve("r1"))?.result, "done by r1");
      assert.equal(await again.retrieve("r2"), undefined);
      assert.equal(await again.store("r1", resultNamed("r1", "late"), LONG_MS), false);
    }));
}

const WAKE_MS = 3_000;
const TTL_MS = 50;

/**
 * Registers tests with the global `describe` and `it` of any runner that every result store should
 * pass.
 *
 * @example
 * resultStoreContract("mine", { create: async () => ({ store: await openMine() }) });
 * @throws ValidationError for an unknown option.
 */
export function resultStoreContract(name: string, options: ResultStoreContractOptions): void {
  checkOptions("resultStoreContract()", options, ["create", "reopens", "ttlMs"]);
  const { ttlMs = TTL_MS } = options;
  const use: UseResult = async (body) => {
    const subject = await options.create();
    let other: ResultStore | undefined;
    try {
      other = await subject.another?.();
      await body({ ...subject, other: other ?? subject.store, ttlMs });
      assert.equal((await subject.subscriptions?.()) ?? 0, 0, "a subscription is left");
    } finally {
      if (other !== subject.store) await other?.close?.();
      await subject.store.close?.();
      await subject.dispose?.();
    }
  };
  describe(`result store contract: ${name}`, () => {
    keepingSuite(use);
    endingResultSuite(use);
    subscribingSuite(use);
    racingSuite(use);
    if (options.reopens === true) resultReopeningSuite(use);
  });
}
