import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { WorkRequest } from "../../src/contracts/network.js";
import { ValidationError } from "../../src/contracts/errors.js";
import { networkStoreAt } from "../../src/cli/network-store.js";
import { StoreQueue } from "../../src/cli/store-queue.js";
import { rejectionOf } from "../support/rejection.js";
import { needRedis, REDIS_URL, removeKeys } from "../support/redis.js";

describe("the commands of queues on a store in Redis", () => {
  before(async function () {
    await needRedis(this);
  });

  it("deliver a result again that did not reach its webhook, without another execution", async () => {
    const ensemble = `kitchen-${randomUUID()}`;
    const backend = await networkStoreAt(REDIS_URL).open();
    const requestId = `late-${randomUUID()}`;
    const request = {
      v: 1,
      requestId,
      from: "shop",
      to: ensemble,
      type: "TASK",
      task: "meal",
    } as const;
    const result = { v: 1, requestId, status: "COMPLETED", result: "soup", durationMs: 1 } as const;
    try {
      await backend.queue.enqueue(ensemble, request);
      const lease = await backend.queue.dequeue(ensemble, { timeoutMs: 9_000, leaseMs: 60_000 });
      if (lease === undefined) throw new Error("no request was delivered");
      await backend.results.store(requestId, result, 60_000);
      await backend.queue.deadLetter(lease, "WEBHOOK_UNDELIVERED: status 500");
      await new StoreQueue(REDIS_URL, ensemble).redrive(requestId);
      expect(await backend.queue.status(ensemble, requestId)).to.equal("QUEUED");
      expect(await backend.results.retrieve(requestId)).to.include({ result: "soup" });
    } finally {
      await backend.results.forget(requestId);
      await backend.close();
      await removeKeys(`agentensemble:{${ensemble}}`);
    }
  });

  it("count requests, list dead letters and redrive one", async () => {
    const ensemble = `kitchen-${randomUUID()}`;
    const backend = await networkStoreAt(REDIS_URL).open();
    const queue = new StoreQueue(REDIS_URL, ensemble);
    const request = (requestId: string): WorkRequest => {
      return { v: 1, requestId, from: "shop", to: ensemble, type: "TASK", task: "meal" };
    };
    try {
      for (const id of ["r1", "r2"]) await backend.queue.enqueue(ensemble, request(id));
      const lease = await backend.queue.dequeue(ensemble, { timeoutMs: 9_000, leaseMs: 60_000 });
      if (lease === undefined) throw new Error("no request was delivered");
      await backend.queue.deadLetter(lease, "odd");
      expect(await queue.depth()).to.deep.include({ queued: 1, leased: 0, dead: 1 });
      const [letter] = await queue.deadLetters();
      expect([letter?.request.requestId, letter?.reason]).to.deep.equal(["r1", "odd"]);
      await queue.redrive("r1");
      expect(await queue.depth()).to.deep.include({ queued: 2, leased: 0, dead: 0 });
      const again = await rejectionOf(ValidationError, queue.redrive("r1"));
      expect(again.message).to.contain("is not a dead letter");
    } finally {
      await backend.close();
      await removeKeys(`agentensemble:{${ensemble}}`);
    }
  });
});
