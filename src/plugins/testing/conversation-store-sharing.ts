import assert from "node:assert/strict";
import type { ConversationStore, ThreadHead, ThreadLock } from "../../contracts/conversation.js";
import { ConversationConflictError, ThreadBusyError } from "../../contracts/conversation-errors.js";
import { ValidationError } from "../../contracts/errors.js";
import { failureOf, fill, storedTurn } from "./conversation-store-turns.js";

type UseThreads = (body: (store: ConversationStore) => Promise<void>) => Promise<void>;

const WRITERS = 8;
const THREADS = ["x", "y", "z"];

/** Tests of owners and of paged lists. */
export function threadListSuite(use: UseThreads): void {
  it("lists all threads in pages, the last changed first", () =>
    use(async (store) => {
      for (let i = 0; i < 7; i++) await fill(store, `t${i}`, 1);
      const found: ThreadHead[] = [];
      for (
        let after: string | undefined, first = true;
        first || after !== undefined;
        first = false
      ) {
        const page = await store.list({ limit: 3, ...(after !== undefined && { after }) });
        assert.ok(page.threads.length <= 3);
        found.push(...page.threads);
        after = page.next;
      }
      assert.deepEqual(found.map(({ id }) => id).sort(), [
        "t0",
        "t1",
        "t2",
        "t3",
        "t4",
        "t5",
        "t6",
      ]);
      const times = found.map(({ updatedAt }) => updatedAt);
      assert.deepEqual(times, [...times].sort().reverse());
      assert.deepEqual(await store.list({ limit: 100 }), { threads: found });
    }));
  it("lists the threads of one owner", () =>
    use(async (store) => {
      for (const [id, owner] of [
        ["a", "ada"],
        ["b", "bob"],
        ["c", "ada"],
        ["d", undefined],
      ] as const)
        await store.append(id, {
          expectedVersion: 0,
          turns: [storedTurn(0)],
          ...(owner !== undefined && { owner }),
        });
      const threadIdsOf = async (owner?: string): Promise<readonly string[]> =>
        (await store.list(owner === undefined ? {} : { owner })).threads.map(({ id }) => id).sort();
      assert.deepEqual(await threadIdsOf("ada"), ["a", "c"]);
      assert.deepEqual(await threadIdsOf("eve"), []);
      assert.deepEqual(await threadIdsOf(), ["a", "b", "c", "d"]);
      await store.delete("a");
      assert.deepEqual(await threadIdsOf("ada"), ["c"]);
    }));
  it("refuses a limit out of range and an invalid cursor", () =>
    use(async (store) => {
      for (const query of [{ limit: 0 }, { limit: 101 }, { after: "nonsense" }])
        assert.ok(
          ValidationError.isInstance(await failureOf(store.list(query))),
          JSON.stringify(query),
        );
    }));
}

/** Tests of several writers of the same threads. */
export function writersSuite(use: UseThreads, turns: number): void {
  it(`keeps all of ${turns} turns that ${WRITERS} writers add concurrently`, async function () {
    this.timeout(120_000);
    await use(async (store) => {
      const random = randomFrom(7);
      const added = new Map<string, string[]>(THREADS.map((id) => [id, []]));
      let left = turns;
      const writer = async (w: number): Promise<void> => {
        while (left > 0) {
          const mine = left--;
          const id = THREADS[Math.floor(random() * THREADS.length)] ?? "x";
          const text = `${w}-${mine}`;
          await addedAfter(store, id, text);
          added.get(id)?.push(text);
        }
      };
      await Promise.all(Array.from({ length: WRITERS }, (_, w) => writer(w)));
      for (const id of THREADS) {
        const stored = await store.read(id, { limit: turns });
        const expected = added.get(id) ?? [];
        assert.deepEqual(
          stored.map(({ n }) => n),
          expected.map((_, n) => n),
        );
        assert.deepEqual(
          stored.map(({ messages }) => messages[0]?.content).sort(),
          expected.sort(),
        );
        assert.equal((await store.open(id))?.version, expected.length || undefined);
      }
    });
  });
}

/** Adds a turn. Repeats the change while other writers interfere. */
async function addedAfter(store: ConversationStore, id: string, text: string): Promise<void> {
  for (;;) {
    const head = await store.open(id);
    const turn = storedTurn(head?.turns ?? 0, text);
    try {
      await store.append(id, { expectedVersion: head?.version ?? 0, turns: [turn] });
      return;
    } catch (error) {
      if (!ConversationConflictError.isInstance(error)) throw error;
    }
  }
}

/** Returns a generator of numbers from 0 to 1, equal in each run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Tests of turns that wait for each other. */
export function threadLockSuite(use: UseThreads): void {
  const lockOf = (
    store: ConversationStore,
    id: string,
    timeoutMs: number,
    signal = new AbortController().signal,
  ): Promise<ThreadLock> => {
    assert.ok(store.lock !== undefined, "the store has no lock; set `locks` to false");
    return store.lock(id, { timeoutMs, signal });
  };
  it("grants the lock of a thread in the order of the calls, and other threads' locks immediately", () =>
    use(async (store) => {
      const order: string[] = [];
      const first = await lockOf(store, "t", 0);
      const waiting = ["b", "c", "d"].map(async (name) => {
        const lock = await lockOf(store, "t", 60_000);
        order.push(name);
        await lock.release();
      });
      await (await lockOf(store, "other", 0)).release();
      assert.deepEqual(order, []);
      await first.release();
      await Promise.all(waiting);
      assert.deepEqual(order, ["b", "c", "d"]);
      await (await lockOf(store, "t", 0)).release();
    }));
  it("ends a wait at its time limit or when aborted, and serves the next caller", () =>
    use(async (store) => {
      const first = await lockOf(store, "t", 0);
      assert.ok(ThreadBusyError.isInstance(await failureOf(lockOf(store, "t", 0))));
      assert.ok(ThreadBusyError.isInstance(await failureOf(lockOf(store, "t", 20))));
      const abort = new AbortController();
      const reason = new Error("enough");
      const aborted = failureOf(lockOf(store, "t", 60_000, abort.signal));
      const next = lockOf(store, "t", 60_000);
      abort.abort(reason);
      assert.equal(await aborted, reason);
      assert.equal(await failureOf(lockOf(store, "u", 60_000, abort.signal)), reason);
      await first.release();
      await first.release();
      await (await next).release();
    }));
}
