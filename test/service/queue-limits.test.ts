import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { NetworkBackend as Backend } from "../../src/contracts/network.js";
import type { QueueLimits } from "../../src/contracts/queue-options.js";
import type { Service } from "../../src/contracts/service.js";
import { bullmq } from "../../src/network-redis.js";
import { defineProgram, NetworkBackend } from "../../src/network.js";
import { Ensemble, ValidationError } from "../../src/index.js";
import { needRedis, REDIS_URL, removeKeys } from "../support/redis.js";
import { rejection } from "../support/rejection.js";
import { pause, until } from "../support/time.js";
import { gate, handlerTask, requests, resultOf } from "./support.js";

/** Services of one ensemble on one backend, whose requests a test ends. */
class Fleet {
  readonly #stop = gate();
  readonly #ensembles: Ensemble[] = [];
  readonly #send = requests();
  running = 0;
  begun = 0;
  mostAtOnce = 0;

  constructor(readonly backend: Backend) {}

  async start(queue: QueueLimits): Promise<Service> {
    const cook = handlerTask(async () => {
      this.begun++;
      this.mostAtOnce = Math.max(this.mostAtOnce, ++this.running);
      await Promise.race([this.#stop.opened, pause(20)]);
      this.running--;
      return "soup";
    });
    const kitchen = new Ensemble({ name: "kitchen", shareTasks: { cook } });
    this.#ensembles.push(kitchen);
    return kitchen.start({ backend: this.backend, queue, signals: false });
  }

  /** Returns the ids of the requests. */
  async enqueue(count: number): Promise<readonly string[]> {
    const sent = Array.from({ length: count }, () => this.#send("cook"));
    for (const request of sent) await this.backend.queue.enqueue("kitchen", request);
    return sent.map(({ requestId }) => requestId);
  }

  async end(): Promise<void> {
    this.#stop.open();
    await Promise.all(this.#ensembles.map((each) => each[Symbol.asyncDispose]()));
    await this.backend.close();
  }
}

describe("the limits of a queue", () => {
  const names: string[] = [];
  const shared = (): Backend => {
    const prefix = `test-${randomUUID()}`;
    names.push(prefix);
    return bullmq({ url: REDIS_URL, prefix });
  };
  afterEach(() => Promise.all(names.splice(0).map(removeKeys)));

  for (const [where, make] of [
    ["in one process", () => NetworkBackend.inMemory()],
    ["of several services", shared],
  ] as const) {
    it(`limit the number of concurrent executions ${where}`, async function () {
      if (make === shared) await needRedis(this);
      const fleet = new Fleet(make());
      try {
        await fleet.start({ globalConcurrency: 2 });
        if (make === shared) await fleet.start({ globalConcurrency: 2 });
        const ids = await fleet.enqueue(6);
        for (const id of ids)
          expect(await resultOf(fleet.backend, id)).to.include({ result: "soup" });
        expect(fleet.mostAtOnce).to.be.within(1, 2);
      } finally {
        await fleet.end();
      }
    });

    it(`limit the number of starts per period ${where}`, async function () {
      if (make === shared) await needRedis(this);
      const fleet = new Fleet(make());
      const limits = { rate: { starts: 3, periodMs: 3_600_000 } };
      try {
        await fleet.start(limits);
        if (make === shared) await fleet.start(limits);
        await fleet.enqueue(6);
        await until(() => fleet.begun === 3 && fleet.running === 0);
        await pause(300);
        expect(fleet.begun).to.equal(3);
        expect(await fleet.backend.queue.depth("kitchen")).to.include({ queued: 3, leased: 0 });
      } finally {
        await fleet.end();
      }
    });
  }

  it("override maxConcurrentRequests of the ensemble in one process", async () => {
    const fleet = new Fleet(NetworkBackend.inMemory());
    try {
      await fleet.start({ concurrency: 1 });
      const ids = await fleet.enqueue(3);
      for (const id of ids) await resultOf(fleet.backend, id);
      expect(fleet.mostAtOnce).to.equal(1);
    } finally {
      await fleet.end();
    }
  });

  it("are refused if they are invalid, also in a program", async () => {
    await using kitchen = new Ensemble({
      name: "kitchen",
      shareTasks: { cook: handlerTask(() => "") },
    });
    const started = (queue: unknown) => rejection(kitchen.start({ queue: queue as QueueLimits }));
    expect(String(await started({ globalConcurency: 1 }))).to.contain("'globalConcurrency'");
    expect(await started({ rate: { starts: 1 } })).to.be.instanceOf(ValidationError);
    expect(await started({ concurrency: 0 })).to.be.instanceOf(ValidationError);
    const program = (queues: object) =>
      defineProgram({ name: "press", ensembles: { kitchen }, queues: queues as never });
    expect(() => program({ kitchn: {} })).to.throw("Did you mean 'kitchen'?");
    expect(() => program({ kitchen: { priority: "URGENT" } })).to.throw("priority");
    expect(program({ default: { concurrency: 1 } }).queues).to.deep.equal({
      default: { concurrency: 1 },
    });
  });
});
