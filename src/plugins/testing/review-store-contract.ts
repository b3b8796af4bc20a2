import assert from "node:assert/strict";
import type { ReviewStore, StoredReview } from "../../contracts/review.js";
import type { Awaitable } from "../../contracts/types.js";
import { ValidationError } from "../../contracts/errors.js";
import { ReviewDecision } from "../../contracts/review.js";
import { checkOptions } from "../../contracts/validation.js";

/** A store for a test of `reviewStoreContract`. */
export interface ReviewStoreUnderTest {
  /** Empty, and without other listeners. */
  readonly store: ReviewStore;
  /** With `reopens`: opens the persisted data, as another process would. */
  readonly reopen?: (() => Awaitable<ReviewStore>) | undefined;
  /** Closes everything, and removes data on disks and servers. */
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Options of `reviewStoreContract`, with the features of the stores. */
export interface ReviewStoreContractOptions {
  /** Called once per test. */
  create(): Awaitable<ReviewStoreUnderTest>;
  /** Whether reviews outlive the process. Requires `reopen`. Default false. */
  readonly reopens?: boolean | undefined;
}

type Use = (
  body: (store: ReviewStore, subject: ReviewStoreUnderTest) => Promise<void>,
) => Promise<void>;

const YES = ReviewDecision.continue({ by: "ana", comment: "fine" });
const NO = ReviewDecision.exitEarly({ by: "ben" });

function question(reviewId: string, o: Partial<StoredReview> = {}): StoredReview {
  return {
    reviewId,
    runId: "run-1",
    taskId: "task-1",
    agentRole: "Writer",
    taskDescription: "Write a line",
    taskOutput: "A line \u2028 \u{1F980}",
    timing: "AFTER_EXECUTION",
    requestedAt: "2026-01-01T00:00:00.000Z",
    timeoutMs: 0,
    onTimeout: "EXIT_EARLY",
    ...o,
  };
}

const never = (): AbortSignal => new AbortController().signal;

/** Time limit of a wait that must end. */
const END_MS = 1_000;

async function ending<T>(wait: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the wait did not end")), END_MS);
  });
  return Promise.race([wait, late]).finally(() => clearTimeout(timer));
}

async function reviewIdsOf(store: ReviewStore): Promise<readonly string[]> {
  return (await store.pending()).map(({ reviewId }) => reviewId);
}

function askingSuite(use: Use): void {
  it("lists open reviews unchanged, oldest first", () =>
    use(async (store) => {
      const first = question("b", { prompt: "Good?", requiredRole: "editor" });
      await store.ask(first);
      await store.ask(question("a", { requestedAt: "2026-01-01T00:00:00.001Z" }));
      assert.deepEqual(await reviewIdsOf(store), ["b", "a"]);
      assert.deepEqual({ ...(await store.pending())[0] }, first);
    }));
  it("keeps a review unchanged when the caller changes it later", () =>
    use(async (store) => {
      const asked = { ...question("a") };
      const asking = store.ask(asked);
      asked.taskOutput = "something else";
      await asking;
      assert.equal((await store.pending())[0]?.taskOutput, question("a").taskOutput);
    }));
  it("notifies listeners of each new review until they stop, also if a listener throws", () =>
    use(async (store) => {
      const told: string[] = [];
      assert.equal(store.isWatched(), false);
      const stop = store.onRequest(({ reviewId }) => void told.push(reviewId));
      const stopFailing = store.onRequest(() => {
        throw new Error("a listener that fails on purpose");
      });
      assert.equal(store.isWatched(), true);
      await store.ask(question("a"));
      stop();
      stopFailing();
      assert.equal(store.isWatched(), false);
      await store.ask(question("b"));
      assert.deepEqual([told, await reviewIdsOf(store)], [["a"], ["a", "b"]]);
    }));
}

function answeringSuite(use: Use): void {
  it("returns a decision to the waiting run, with its author and reason", () =>
    use(async (store) => {
      await store.ask(question("a"));
      const waiting = store.waitFor("a", never());
      const { outcome, review } = await store.resolve("a", YES);
      assert.deepEqual([outcome, { ...review?.decision }], ["resolved", { ...YES }]);
      assert.ok(!Number.isNaN(Date.parse(review?.decidedAt ?? "")), "decidedAt is no instant");
      assert.deepEqual({ ...(await ending(waiting)) }, { ...YES });
      assert.deepEqual(await reviewIdsOf(store), []);
    }));
  it("returns a decision that was made before the wait", () =>
    use(async (store) => {
      await store.ask(question("a"));
      await store.resolve("a", ReviewDecision.edit("better"));
      assert.equal((await ending(store.waitFor("a", never()))).revisedOutput, "better");
    }));
  it("accepts the first of several answers, and reports it to the others", () =>
    use(async (store) => {
      await store.ask(question("a"));
      const answers = await Promise.all(
        [YES, NO, YES].map(async (decision) => store.resolve("a", decision)),
      );
      const outcomes = answers.map(({ outcome }) => outcome).sort();
      assert.deepEqual(outcomes, ["decided", "decided", "resolved"]);
      const held = answers.map(({ review }) => review?.decision?.by);
      assert.equal(new Set(held).size, 1, `several hold: ${held.join(", ")}`);
      assert.equal((await ending(store.waitFor("a", never()))).by, held[0]);
    }));
  it("keeps reviews separate", () =>
    use(async (store) => {
      for (const id of ["a", "b"]) await store.ask(question(id));
      const waiting = Promise.all(["a", "b"].map((id) => store.waitFor(id, never())));
      await store.resolve("b", NO);
      assert.deepEqual(await reviewIdsOf(store), ["a"]);
      await store.resolve("a", YES);
      assert.deepEqual(
        (await ending(waiting)).map(({ type }) => type),
        ["CONTINUE", "EXIT_EARLY"],
      );
    }));
  it("reports a review that was never requested as unknown", () =>
    use(async (store) => {
      assert.deepEqual({ ...(await store.resolve("a", YES)) }, { outcome: "unknown" });
      await assert.rejects(async () => store.waitFor("a", never()));
    }));
  it("refuses an invalid decision, and keeps the review open", () =>
    use(async (store) => {
      await store.ask(question("a"));
      for (const odd of [undefined, "CONTINUE", {}, { type: "EDIT" }, { ...YES, by: 1 }])
        await assert.rejects(
          async () => store.resolve("a", odd as never), // invalid on purpose
          (error) => ValidationError.isInstance(error),
        );
      assert.deepEqual(await reviewIdsOf(store), ["a"]);
      assert.equal((await store.resolve("a", YES)).outcome, "resolved");
    }));
}

function reviewEndingSuite(use: Use): void {
  it("ends the wait at its signal, and closes a review after its deadline", () =>
    use(async (store) => {
      await store.ask(question("a", { timeoutMs: 1, deadline: "2026-01-01T00:00:00.001Z" }));
      const controller = new AbortController();
      const waiting = assert.rejects(ending(store.waitFor("a", controller.signal)), /nobody waits/);
      controller.abort(new Error("nobody waits"));
      await waiting;
      assert.deepEqual(await reviewIdsOf(store), []);
      assert.equal((await store.resolve("a", YES)).outcome, "over");
    }));
  it("rejects a wait whose signal is already aborted", () =>
    use(async (store) => {
      await store.ask(question("a"));
      const ended = AbortSignal.abort(new Error("ended before"));
      await assert.rejects(ending(store.waitFor("a", ended)), /ended before/);
    }));
}

function reviewReopenSuite(use: Use): void {
  const reopened = async ({ reopen }: ReviewStoreUnderTest): Promise<ReviewStore> =>
    (await reopen?.()) ?? assert.fail("a store that reopens needs `reopen`");
  it("keeps open reviews for another process, and describes how to answer them", () =>
    use(async (store, subject) => {
      await store.ask(question("a"));
      const other = await reopened(subject);
      assert.deepEqual(await reviewIdsOf(other), ["a"]);
      assert.ok((other.howToAnswer?.("a") ?? "").includes("a"), "howToAnswer has no answer");
      assert.equal((await other.resolve("a", YES)).outcome, "resolved");
    }));
  it("returns the first request and its decision when the same review is requested again", () =>
    use(async (store, subject) => {
      await store.ask(question("a"));
      await store.resolve("a", YES);
      const other = await reopened(subject);
      const again = await other.ask(question("a", { requestedAt: "2026-01-02T00:00:00.000Z" }));
      assert.equal(again.requestedAt, question("a").requestedAt);
      assert.deepEqual({ ...again.decision }, { ...YES });
    }));
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every review store should
 * pass.
 *
 * @example
 * reviewStoreContract("mine", { create: async () => ({ store: await openMine() }) });
 * @throws ValidationError for an unknown option.
 */
export function reviewStoreContract(name: string, options: ReviewStoreContractOptions): void {
  checkOptions("reviewStoreContract()", options, ["create", "reopens"]);
  const use: Use = async (body) => {
    const subject = await options.create();
    try {
      await body(subject.store, subject);
    } finally {
      await subject.dispose?.();
    }
  };
  describe(`review store contract: ${name}`, () => {
    askingSuite(use);
    answeringSuite(use);
    reviewEndingSuite(use);
    if (options.reopens === true) reviewReopenSuite(use);
  });
}
