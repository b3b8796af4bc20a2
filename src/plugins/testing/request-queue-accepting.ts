import assert from "node:assert/strict";
import type { RequestQueueCapabilities, UseQueue } from "./request-queue-scenario.js";
import { RequestConflictError } from "../../contracts/network-errors.js";
import {
  asData,
  assertNothing,
  deliveredIds,
  enqueueAll,
  QUEUE,
  requestNamed,
  takeNext,
} from "./request-queue-scenario.js";

const ODD_TEXT = 'Grüße \u2028 \u0001 \u{1F980} "quoted" \\ \' $1 -- ; \ud800';

/** Tests of accepted and stored requests. */
export function queueAcceptingSuite(use: UseQueue): void {
  it("delivers a complete request once, with unknown fields", () =>
    use(async ({ queue, other }) => {
      const request = requestNamed("r1", {
        inputs: { room: 403, nested: { list: [1, null, "x"] } },
        priority: "HIGH",
        deadlineMs: 1_000,
        path: ["a", "b"],
        vendorField: { kept: true },
      });
      await enqueueAll(other, [request]);
      const lease = await takeNext(queue);
      assert.deepEqual(asData(lease.request), asData(request));
      assert.deepEqual([lease.queue, lease.attempt], [QUEUE, 1]);
      assert.ok(lease.waitedMs >= 0, "waitedMs is negative");
      assert.equal(await queue.acknowledge(lease), true);
      await assertNothing(queue, 50);
    }));
  it("keeps a request unchanged when the caller changes it later", () =>
    use(async ({ queue }) => {
      const inputs = { room: 1 };
      await queue.enqueue(QUEUE, requestNamed("r1", { inputs }));
      inputs.room = 2;
      assert.deepEqual({ ...(await takeNext(queue)).request.inputs }, { room: 1 });
    }));
  it("accepts an id once, from six concurrent clients and after the request is done", () =>
    use(async ({ queue, other }) => {
      const sending = [queue, other, queue, other, queue, other].map((client) =>
        client.enqueue(QUEUE, requestNamed("r1")),
      );
      const statuses = (await Promise.all(sending)).map(({ status }) => status).sort();
      assert.deepEqual(statuses, ["ACCEPTED", ...Array<string>(5).fill("DUPLICATE")]);
      const lease = await takeNext(queue);
      assert.equal((await other.enqueue(QUEUE, requestNamed("r1"))).status, "DUPLICATE");
      await queue.acknowledge(lease);
      assert.equal((await other.enqueue(QUEUE, requestNamed("r1"))).status, "DUPLICATE");
      await assertNothing(queue, 50);
    }));
  it("refuses a known id with different content, also after the request is done", () =>
    use(async ({ queue, other }) => {
      await enqueueAll(queue, ["r1"]);
      const refused = async (change: object): Promise<void> => {
        const request = requestNamed("r1", change);
        await assert.rejects(other.enqueue(QUEUE, request), (error) =>
          RequestConflictError.isInstance(error),
        );
      };
      for (const change of [{ task: "other" }, { context: "other" }, { inputs: { a: 1 } }])
        await refused(change);
      const same = requestNamed("r1", { priority: "LOW", deadlineMs: 5 });
      assert.equal((await other.enqueue(QUEUE, same)).status, "DUPLICATE");
      await queue.acknowledge(await takeNext(queue));
      await refused({ task: "other" });
    }));
}

/** Tests of separation and completeness. */
export function queueKeepingSuite(use: UseQueue): void {
  it("keeps queues separate", () =>
    use(async ({ queue, other }) => {
      await other.enqueue("elsewhere", requestNamed("r1", { to: "elsewhere" }));
      await assertNothing(queue);
      assert.equal(await queue.status(QUEUE, "r1"), undefined);
      assert.equal((await queue.enqueue(QUEUE, requestNamed("r1"))).status, "ACCEPTED");
    }));
  it("keeps 1 MiB of text, any Unicode, and unusual names as ids and fields", () =>
    use(async ({ queue, other }) => {
      const odd = [
        "__proto__",
        "constructor",
        "a/b:c*d?e|f.g",
        "größer \u{1F980}",
        "x".repeat(200),
      ];
      const requests = [
        requestNamed("large", { context: "é".repeat(1 << 19) }),
        ...odd.map((id) =>
          requestNamed(id, {
            context: ODD_TEXT,
            // only parsed JSON has these as own keys
            inputs: JSON.parse(`{"__proto__":{"a":1},"constructor":2}`) as object,
          } as object),
        ),
      ];
      await enqueueAll(other, requests);
      for (const request of requests) {
        const lease = await takeNext(queue);
        assert.deepEqual(JSON.stringify(asData(lease.request)), JSON.stringify(request));
        await queue.acknowledge(lease);
        assert.equal(await other.status(QUEUE, request.requestId), "DONE");
      }
    }));
}

/** Tests of order and capacity. */
export function queueOrderSuite(use: UseQueue, capabilities: RequestQueueCapabilities): void {
  const { priorities = true, ageing = true, exactCapacity = true } = capabilities;
  it("delivers in the order of acceptance", () =>
    use(async ({ queue, other }) => {
      const ids = Array.from({ length: 12 }, (_, n) => `r${n}`);
      await enqueueAll(other, ids);
      assert.deepEqual(await deliveredIds(queue, ids.length), ids);
    }));
  if (priorities)
    it("delivers higher priorities first", () =>
      use(async ({ queue, other }) => {
        const asked = ["LOW", "NORMAL", "HIGH", "CRITICAL", "LOW", "CRITICAL"] as const;
        await enqueueAll(
          other,
          asked.map((priority, n) => requestNamed(`${priority}-${n}`, { priority })),
        );
        const expected = ["CRITICAL-3", "CRITICAL-5", "HIGH-2", "NORMAL-1", "LOW-0", "LOW-4"];
        assert.deepEqual(await deliveredIds(queue, 6), expected);
      }));
  if (priorities && ageing)
    it("delivers a LOW request after at most three times agingMs", () =>
      use(
        async ({ queue, other }) => {
          await enqueueAll(other, [requestNamed("old", { priority: "LOW" })]);
          while ((await other.depth(QUEUE)).oldestWaitMs < 3 * SHORT_AGING_MS + 50)
            await new Promise((resolve) => setTimeout(resolve, 20));
          await enqueueAll(other, [requestNamed("new", { priority: "CRITICAL" })]);
          assert.deepEqual(await deliveredIds(queue, 2), ["old", "new"]);
        },
        { agingMs: SHORT_AGING_MS },
      ));
  it("accepts no more than maxQueued requests, and keeps nothing of a refused request", () =>
    use(async ({ queue, other }) => {
      for (const [id, status] of [
        ["r1", "ACCEPTED"],
        ["r2", "ACCEPTED"],
        ["r3", "FULL"],
        ["r1", "DUPLICATE"],
      ] as const)
        assert.equal(
          (await other.enqueue(QUEUE, requestNamed(id), { maxQueued: 2 })).status,
          status,
        );
      assert.equal(await queue.status(QUEUE, "r3"), undefined);
      await takeNext(queue); // leased requests do not count
      const again = await other.enqueue(QUEUE, requestNamed("r3"), { maxQueued: 2 });
      assert.equal(again.status, "ACCEPTED");
    }));
  if (exactCapacity)
    it("accepts exactly maxQueued of fifty concurrent requests", () =>
      use(async ({ queue, other }) => {
        const sending = Array.from({ length: 50 }, (_, n) =>
          (n % 2 === 0 ? queue : other).enqueue(QUEUE, requestNamed(`r${n}`), { maxQueued: 7 }),
        );
        const accepted = (await Promise.all(sending)).filter(({ status }) => status === "ACCEPTED");
        assert.equal(accepted.length, 7);
        assert.equal((await queue.depth(QUEUE)).queued, 7);
      }));
}

const SHORT_AGING_MS = 50;
