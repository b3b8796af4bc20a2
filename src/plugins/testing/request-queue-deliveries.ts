import assert from "node:assert/strict";
import type { RequestQueue } from "../../contracts/network.js";
import type { UseQueue } from "./request-queue-scenario.js";
import {
  assertNothing,
  deliveredIds,
  endsSoon,
  enqueueAll,
  LONG_MS,
  delay,
  QUEUE,
  requestNamed,
  takeNext,
} from "./request-queue-scenario.js";

/** Tests of waits. */
export function queueWaitingSuite(use: UseQueue): void {
  it("ends a wait after its time, and immediately when its signal aborts", () =>
    use(async ({ queue }) => {
      await endsSoon(assertNothing(queue, 100));
      const controller = new AbortController();
      const { signal } = controller;
      const waiting = queue.dequeue(QUEUE, { timeoutMs: LONG_MS, leaseMs: LONG_MS, signal });
      await delay(20);
      controller.abort();
      assert.equal(await endsSoon(waiting, ABORT_MS), undefined);
      const aborted = queue.dequeue(QUEUE, { timeoutMs: LONG_MS, leaseMs: LONG_MS, signal });
      assert.equal(await endsSoon(aborted, ABORT_MS), undefined);
    }));
  it("delivers nothing to a consumer whose wait was aborted", () =>
    use(async ({ queue, other }) => {
      const controller = new AbortController();
      const { signal } = controller;
      const left = queue.dequeue(QUEUE, { timeoutMs: LONG_MS, leaseMs: LONG_MS, signal });
      controller.abort();
      await endsSoon(left, ABORT_MS);
      await enqueueAll(other, ["r1"]);
      assert.equal((await takeNext(queue)).request.requestId, "r1");
    }));
  it("delivers to a consumer that waits in another client", () =>
    use(async ({ queue, other }) => {
      const waiting = queue.dequeue(QUEUE, { timeoutMs: LONG_MS, leaseMs: LONG_MS });
      await delay(50);
      await enqueueAll(other, ["r1"]);
      assert.equal((await endsSoon(waiting, WAKE_MS))?.request.requestId, "r1");
    }));
  it("delivers to each of several waiting consumers", () =>
    use(async ({ queue, other, otherConsumer }) => {
      const waiting = Promise.all([queue, otherConsumer, queue].map((client) => takeNext(client)));
      const accepted = delay(20).then(() => enqueueAll(other, ["r1", "r2", "r3"]));
      const [leases] = await endsSoon(Promise.all([waiting, accepted]));
      const ids = leases.map(({ request }) => request.requestId).sort();
      assert.deepEqual(ids, ["r1", "r2", "r3"]);
    }));
  it("delivers each request to only one of several consumers", () =>
    use(async ({ queue, other, otherConsumer }) => {
      const ids = Array.from({ length: 40 }, (_, n) => `r${n}`).sort();
      await enqueueAll(other, ids);
      const seen: string[] = [];
      const consume = async (client: RequestQueue): Promise<void> => {
        while (seen.length < ids.length) {
          const lease = await client.dequeue(QUEUE, { timeoutMs: 100, leaseMs: LONG_MS });
          if (lease === undefined) continue;
          seen.push(lease.request.requestId);
          await client.acknowledge(lease);
        }
      };
      await endsSoon(Promise.all([queue, otherConsumer, queue, otherConsumer].map(consume)));
      assert.deepEqual([...seen].sort(), ids);
    }));
}

/** Tests of leases. */
export function queueLeaseSuite(use: UseQueue): void {
  it("delivers again after a lease expires, with the next attempt and another token", () =>
    use(async ({ queue, otherConsumer, leaseMs }) => {
      await enqueueAll(queue, ["r1"]);
      const first = await takeNext(queue, { leaseMs });
      const second = await takeNext(otherConsumer);
      assert.deepEqual([first.attempt, second.attempt], [1, 2]);
      assert.notEqual(first.token, second.token);
      assert.equal(second.request.requestId, "r1");
    }));
  it("delivers after a lease expires to a consumer that was already waiting", () =>
    use(async ({ queue, otherConsumer, leaseMs }) => {
      await enqueueAll(queue, ["r1"]);
      const first = await takeNext(queue, { leaseMs });
      const waiting = takeNext(otherConsumer);
      assert.equal((await endsSoon(waiting)).attempt, first.attempt + 1);
    }));
  it("refuses every operation of a lost lease", () =>
    use(async ({ queue, otherConsumer, leaseMs }) => {
      await enqueueAll(queue, ["r1"]);
      const lost = await takeNext(queue, { leaseMs });
      const held = await takeNext(otherConsumer);
      const tries = [
        () => queue.extend(lost),
        () => queue.acknowledge(lost),
        () => queue.release(lost),
        () => queue.deadLetter(lost, "late"),
      ];
      for (const attempt of tries) assert.equal(await attempt(), false);
      assert.equal(await queue.status(QUEUE, "r1"), "LEASED");
      assert.equal(await otherConsumer.acknowledge(held), true);
      assert.equal(await otherConsumer.acknowledge(held), false, "a lease ended twice");
    }));
  it("keeps an extended lease", () =>
    use(async ({ queue, otherConsumer, leaseMs }) => {
      await enqueueAll(queue, ["r1"]);
      const lease = await takeNext(queue, { leaseMs });
      assert.equal(await queue.extend(lease, LONG_MS), true);
      await assertNothing(otherConsumer, 2 * leaseMs);
      assert.equal(await queue.acknowledge(lease), true);
    }));
  it("extends a lease by its own duration if none is given", () =>
    use(async ({ queue, otherConsumer, leaseMs }) => {
      await enqueueAll(queue, ["r1"]);
      const lease = await takeNext(queue, { leaseMs });
      assert.equal(await queue.extend(lease), true);
      assert.equal((await takeNext(otherConsumer)).attempt, 2);
    }));
}

/** Tests of releases. */
export function queueReturnSuite(use: UseQueue): void {
  it("immediately returns a released request to its place, and counts its delivery", () =>
    use(async ({ queue, otherConsumer }) => {
      await enqueueAll(queue, ["r1", "r2"]);
      const lease = await takeNext(queue);
      assert.equal(await queue.release(lease), true);
      assert.equal(await queue.acknowledge(lease), false, "a released lease is still held");
      const again = await takeNext(otherConsumer);
      assert.deepEqual([again.request.requestId, again.attempt], ["r1", 2]);
    }));
  it("does not count a delivery that was released without blame", () =>
    use(async ({ queue, otherConsumer }) => {
      await enqueueAll(queue, ["r1"]);
      for (let n = 0; n < 3; n++) {
        const lease = await takeNext(queue);
        assert.equal(lease.attempt, 1);
        assert.equal(await queue.release(lease, { blame: false }), true);
      }
      assert.equal((await takeNext(otherConsumer)).attempt, 1);
    }));
  it("delivers a request that was released with a delay after that delay", () =>
    use(async ({ queue, otherConsumer, leaseMs }) => {
      await enqueueAll(queue, ["r1", "r2"]);
      await queue.release(await takeNext(queue), { delayMs: 3 * leaseMs });
      assert.equal(await queue.status(QUEUE, "r1"), "QUEUED");
      assert.equal((await takeNext(otherConsumer)).request.requestId, "r2");
      await assertNothing(otherConsumer);
      const again = await takeNext(otherConsumer);
      assert.deepEqual([again.request.requestId, again.attempt], ["r1", 2]);
    }));
}

/** A reason of maximum length: 1,500 characters. */
const LONG_REASON = "\u00e9\n\u{1f980}".repeat(375);

/** Tests of dead letters and of the reports of a queue. */
export function queueReportSuite(use: UseQueue): void {
  it("keeps 1,500 characters of the reason of a dead letter", () =>
    use(async ({ queue, other }) => {
      await enqueueAll(queue, ["r1"]);
      assert.equal(await queue.deadLetter(await takeNext(queue), `${LONG_REASON} and more`), true);
      const [letter] = await other.deadLetters(QUEUE);
      assert.equal(letter?.reason, LONG_REASON);
    }));
  it("keeps dead letters, and delivers a redriven request again", () =>
    use(async ({ queue, other }) => {
      await enqueueAll(queue, ["r1", "r2"]);
      for (const reason of ["poison", "odd"])
        assert.equal(await queue.deadLetter(await takeNext(queue), reason), true);
      await assertNothing(queue, 50);
      const letters = await other.deadLetters(QUEUE);
      assert.deepEqual(
        letters.map(({ request, reason }) => [request.requestId, reason]),
        [
          ["r1", "poison"],
          ["r2", "odd"],
        ],
      );
      assert.equal(letters[0]?.request.context, requestNamed("r1").context);
      assert.equal((await other.enqueue(QUEUE, requestNamed("r1"))).status, "DUPLICATE");
      assert.equal(await other.redrive(QUEUE, "r1"), true);
      assert.equal(await other.redrive(QUEUE, "r1"), false);
      assert.equal(await other.redrive(QUEUE, "unknown"), false);
      const again = await takeNext(queue);
      assert.deepEqual([again.request.requestId, again.attempt], ["r1", 1]);
      assert.equal((await other.deadLetters(QUEUE)).length, 1);
    }));
  it("reports states and depth", () =>
    use(async ({ queue, other }) => {
      assert.deepEqual({ ...(await other.depth(QUEUE)) }, EMPTY);
      assert.equal(await other.status(QUEUE, "r1"), undefined);
      await enqueueAll(queue, ["r1", "r2", "r3", "r4"]);
      await queue.acknowledge(await takeNext(queue));
      await queue.deadLetter(await takeNext(queue), "poison");
      await takeNext(queue);
      await delay(5);
      const states = ["r1", "r2", "r3", "r4"].map((id) => other.status(QUEUE, id));
      assert.deepEqual(await Promise.all(states), ["DONE", "DEAD", "LEASED", "QUEUED"]);
      const { oldestWaitMs, ...counts } = await other.depth(QUEUE);
      assert.deepEqual(counts, { queued: 1, leased: 1, dead: 1 });
      assert.ok(oldestWaitMs > 0, "the oldest queued request has waited");
    }));
}

/** Tests of a persistent queue. */
export function queueReopeningSuite(use: UseQueue): void {
  it("keeps queued, known and dead requests after it was closed", () =>
    use(async ({ queue, reopen, leaseMs }) => {
      await enqueueAll(queue, ["done", "dead", "leased", "returned", "waits"]);
      await queue.acknowledge(await takeNext(queue));
      await queue.deadLetter(await takeNext(queue), "poison");
      await takeNext(queue, { leaseMs });
      await queue.release(await takeNext(queue));
      await queue.close?.();
      const again = (await reopen?.()) ?? assert.fail("a queue that reopens needs `reopen`");
      assert.equal((await again.enqueue(QUEUE, requestNamed("done"))).status, "DUPLICATE");
      assert.equal((await again.deadLetters(QUEUE))[0]?.reason, "poison");
      const attempts = new Map<string, number>();
      while (attempts.size < 3) {
        const { request, attempt } = await takeNext(again);
        attempts.set(request.requestId, attempt);
      }
      assert.deepEqual(Object.fromEntries(attempts), { leased: 2, returned: 2, waits: 1 });
      assert.equal(await again.redrive(QUEUE, "dead"), true);
      assert.deepEqual(await deliveredIds(again, 1), ["dead"]);
    }));
}

const EMPTY = { queued: 0, leased: 0, dead: 0, oldestWaitMs: 0 };
/** Time limit of an abort and of a wake-up. */
const ABORT_MS = 1_000;
const WAKE_MS = 1_500;
