import assert from "node:assert/strict";
import type { ConversationStore } from "../../contracts/conversation.js";
import type { Awaitable } from "../../contracts/types.js";
import { ConversationConflictError } from "../../contracts/conversation-errors.js";
import { ValidationError } from "../../contracts/errors.js";
import { checkOptions } from "../../contracts/validation.js";
import { threadListSuite, threadLockSuite, writersSuite } from "./conversation-store-sharing.js";
import { failureOf, fill, storedTurn, textsIn } from "./conversation-store-turns.js";

/** A store for a test of `conversationStoreContract`. */
export interface ConversationStoreUnderTest {
  /** Empty. */
  readonly store: ConversationStore;
  /** With `reopens`: opens the persisted data, as another process would. */
  readonly reopen?: (() => Awaitable<ConversationStore>) | undefined;
  /** Closes everything, and removes data on disks and servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `conversationStoreContract`, with the features of the stores. */
export interface ConversationStoreContractOptions {
  /** Called once per test. */
  create(): Awaitable<ConversationStoreUnderTest>;
  /** Whether threads outlive the store object. Requires `reopen`. Default false. */
  readonly reopens?: boolean | undefined;
  /** Whether it has `lock`. Default true. */
  readonly locks?: boolean | undefined;
  /** Number of turns that eight writers add. Default 1,000. */
  readonly turns?: number | undefined;
}

/** Passes a new store to a test, and disposes it afterwards. */
type UseStore = (
  body: (store: ConversationStore, subject: ConversationStoreUnderTest) => Promise<void>,
) => Promise<void>;

const IDS = [
  "../../etc/passwd",
  "a/b",
  "A/B",
  "CON",
  "__proto__",
  "\u{1F980}".repeat(256),
  "'; --",
];

function contentSuite(use: UseStore): void {
  it("returns no data of an unknown thread", () =>
    use(async (store) => {
      assert.equal(await store.open("nobody"), undefined);
      assert.deepEqual(await store.read("nobody", { limit: 3 }), []);
      assert.equal(await store.delete("nobody"), false);
    }));
  it("returns copies of the stored turns", () =>
    use(async (store) => {
      const turn = storedTurn(0, "A line \u2028, \0 and \ud800 \u{1F980} ' \\ \"");
      await store.append("t", { expectedVersion: 0, turns: [turn] });
      const [first] = await store.read("t", { limit: 1 });
      assert.deepEqual(first, turn);
      (first as { status: string }).status = "failed";
      assert.deepEqual(await store.read("t", { limit: 1 }), [turn]);
    }));
  it("stores the head of a thread next to its turns", () =>
    use(async (store) => {
      const created = await store.append("t", {
        expectedVersion: 0,
        turns: [storedTurn(0)],
        owner: "ada",
      });
      assert.deepEqual(await store.open("t"), created);
      const { createdAt, updatedAt, ...head } = created;
      assert.deepEqual(head, { id: "t", owner: "ada", version: 1, turns: 1, agentRole: "Clerk" });
      assert.equal(createdAt, updatedAt);
      const summary = { upTo: 0, text: "a summary", at: createdAt };
      await store.append("t", { expectedVersion: 1, title: "Title", summary });
      const changed = await store.append("t", { expectedVersion: 2, turns: [storedTurn(1)] });
      assert.deepEqual(await store.open("t"), changed);
      assert.deepEqual(
        [changed.title, changed.owner, changed.summary, changed.version, changed.turns],
        ["Title", "ada", summary, 3, 2],
      );
    }));
}

function idSuite(use: UseStore): void {
  it("keeps threads with any ids separate", () =>
    use(async (store) => {
      for (const id of IDS)
        await store.append(id, { expectedVersion: 0, turns: [storedTurn(0, `of ${id}`)] });
      for (const id of IDS) {
        assert.deepEqual(await textsIn(store, id), [`of ${id}`]);
        assert.equal((await store.open(id))?.id, id);
      }
      assert.equal(await store.delete("a/b"), true);
      assert.equal(await store.open("a/b"), undefined);
      assert.deepEqual(await textsIn(store, "A/B"), ["of A/B"]);
    }));
  it("refuses invalid ids and invalid changes", () =>
    use(async (store) => {
      await fill(store, "t", 2);
      for (const id of ["", "a\nb", "x".repeat(257), "\ud800"])
        assert.ok(ValidationError.isInstance(await failureOf(store.open(id))));
      for (const change of [
        { expectedVersion: -1 },
        { expectedVersion: 1.5 },
        { expectedVersion: 2, turns: [storedTurn(5)] },
        { expectedVersion: 2, keep: -1 },
        { expectedVersion: 2, owner: "someone" },
      ])
        assert.ok(
          ValidationError.isInstance(await failureOf(store.append("t", change))),
          JSON.stringify(change),
        );
      for (const limit of [0, -1, 0.5])
        assert.ok(ValidationError.isInstance(await failureOf(store.read("t", { limit }))));
      assert.equal((await store.open("t"))?.version, 2);
    }));
}

function changeSuite(use: UseStore): void {
  it("refuses a change that expects another version, and changes nothing", () =>
    use(async (store) => {
      await fill(store, "t", 2);
      for (const [id, expectedVersion] of [
        ["t", 0],
        ["t", 1],
        ["t", 3],
        ["new", 1],
      ] as const) {
        const change = { expectedVersion, turns: [storedTurn(2)] };
        const error = await failureOf(store.append(id, change));
        assert.ok(ConversationConflictError.isInstance(error), `${id} at ${expectedVersion}`);
      }
      assert.equal((await store.open("t"))?.version, 2);
      assert.deepEqual(await textsIn(store, "t"), ["turn 0", "turn 1"]);
      assert.equal(await store.open("new"), undefined);
    }));
  it("reads the last turns, and the last turns before a number", () =>
    use(async (store) => {
      await fill(store, "t", 7);
      const numbers = async (limit: number, before?: number): Promise<readonly number[]> =>
        (await store.read("t", { limit, before })).map(({ n }) => n);
      assert.deepEqual(await numbers(3), [4, 5, 6]);
      assert.deepEqual(await numbers(100), [0, 1, 2, 3, 4, 5, 6]);
      assert.deepEqual(await numbers(2, 3), [1, 2]);
      assert.deepEqual(await numbers(5, 2), [0, 1]);
      assert.deepEqual(await numbers(5, 0), []);
      assert.deepEqual(await numbers(1, 100), [6]);
    }));
  it("replaces turns in one step, also repeatedly", () =>
    use(async (store) => {
      await fill(store, "t", 4);
      const turns = [storedTurn(2, "new 2"), storedTurn(3, "new 3"), storedTurn(4, "new 4")];
      await store.append("t", { expectedVersion: 4, keep: 2, turns });
      const kept = ["turn 0", "turn 1", "new 2"];
      assert.deepEqual(await textsIn(store, "t"), [...kept, "new 3", "new 4"]);
      assert.deepEqual(
        (await store.read("t", { limit: 2, before: 3 })).map(({ n }) => n),
        [1, 2],
      );
      await store.append("t", { expectedVersion: 5, keep: 3 });
      assert.deepEqual(await textsIn(store, "t"), kept);
      await store.append("t", { expectedVersion: 6, turns: [storedTurn(3, "last")] });
      assert.deepEqual(await textsIn(store, "t"), [...kept, "last"]);
      assert.equal((await store.open("t"))?.turns, 4);
      await store.append("t", { expectedVersion: 7, keep: 0 });
      assert.deepEqual(await textsIn(store, "t"), []);
      assert.equal((await store.open("t"))?.version, 8);
    }));
}

function removalSuite(use: UseStore): void {
  it("removes a summary when its turns are removed", () =>
    use(async (store) => {
      await fill(store, "t", 3);
      const summary = { upTo: 1, text: "s", at: "2026-01-01T00:00:00.000Z" };
      await store.append("t", { expectedVersion: 3, summary });
      assert.deepEqual((await store.append("t", { expectedVersion: 4, keep: 2 })).summary, summary);
      await store.append("t", { expectedVersion: 5, keep: 1 });
      assert.equal((await store.open("t"))?.summary, undefined);
    }));
  it("starts a deleted thread again", () =>
    use(async (store) => {
      await fill(store, "t", 3);
      assert.equal(await store.delete("t"), true);
      assert.deepEqual(await store.read("t", { limit: 5 }), []);
      assert.equal(await store.delete("t"), false);
      await fill(store, "t", 1);
      assert.equal((await store.open("t"))?.version, 1);
      assert.deepEqual(await textsIn(store, "t"), ["turn 0"]);
    }));
}

/**
 * Registers tests of a conversation store: versions, atomic changes, order, owners, and concurrent
 * writers. `locks: false` omits the tests of `lock`. With `reopens`, threads must outlive the store
 * object. For mocha and compatible runners.
 * @example conversationStoreContract("my store", { create: () => ({ store: new MyStore() }) });
 */
export function conversationStoreContract(name: string, o: ConversationStoreContractOptions): void {
  checkOptions("conversationStoreContract", o, ["create", "reopens", "locks", "turns"]);
  const use: UseStore = async (body) => {
    const subject = await o.create();
    try {
      await body(subject.store, subject);
    } finally {
      await subject.dispose?.();
    }
  };
  describe(`${name}, a conversation store`, () => {
    contentSuite(use);
    idSuite(use);
    changeSuite(use);
    removalSuite(use);
    threadListSuite(use);
    writersSuite(use, o.turns ?? 1_000);
    if (o.locks !== false) threadLockSuite(use);
    if (o.reopens !== true) return;
    it("returns its threads after it was opened again", () =>
      use(async (store, { reopen }) => {
        await fill(store, "t", 3);
        const head = await store.open("t");
        await store.close?.();
        assert.ok(reopen !== undefined, "`reopens` needs `reopen`");
        const again = await reopen();
        assert.deepEqual(await again.open("t"), head);
        assert.deepEqual(await textsIn(again, "t"), ["turn 0", "turn 1", "turn 2"]);
        assert.equal((await again.list()).threads.length, 1);
      }));
  });
}
