import { expect } from "chai";
import type { NetworkBackend as Backend, WorkRequest } from "../../src/contracts/network.js";
import type { EnsembleOptions } from "../../src/index.js";
import { NetworkBackend, Transport } from "../../src/plugins/network/shared/backends.js";
import { Ensemble } from "../../src/index.js";
import { until } from "../support/time.js";
import { SteppingClock } from "./stepping-clock.js";
import {
  aborted,
  ask,
  changedQueue,
  eventLog,
  gate,
  handlerTask,
  requests,
  resultOf,
} from "./support.js";

const echo = handlerTask(({ inputs }) =>
  JSON.stringify(inputs["context"] ?? "nothing").slice(1, -1),
);

function kitchenWith(more: Partial<EnsembleOptions>, clock?: SteppingClock): Ensemble {
  const plugins = clock === undefined ? [] : [clock.plugin()];
  return new Ensemble({ name: "kitchen", shareTasks: { echo }, plugins, ...more });
}

async function deliver(backend: Backend, request: WorkRequest, times: number): Promise<void> {
  await backend.queue.enqueue("kitchen", request);
  for (let i = 0; i < times; i++) {
    const lease = await backend.queue.dequeue("kitchen", { timeoutMs: 0, leaseMs: 1_000 });
    if (lease === undefined) throw new Error("nothing is queued");
    await backend.queue.release(lease);
  }
}

describe("the end of a request", () => {
  it("is CANCELLED before it begins, and nothing is executed", async () => {
    const backend = NetworkBackend.inMemory();
    let calls = 0;
    const request = requests()("count");
    await backend.queue.enqueue("kitchen", request);
    const transport = Transport.of("kitchen", backend);
    expect(await transport.cancel(request.requestId, "not hungry")).to.equal(true);
    await using kitchen = kitchenWith({ shareTasks: { count: handlerTask(() => ++calls) } });
    await using service = await kitchen.start({ backend });
    await until(async () => (await backend.queue.status("kitchen", request.requestId)) === "DONE");
    expect(await resultOf(backend, request.requestId)).to.include({ status: "CANCELLED" });
    expect(calls).to.equal(0);
    expect(await service.cancel(request.requestId)).to.equal(false);
  });

  it("is CANCELLED while it runs: the signal of the task aborts", async () => {
    const backend = NetworkBackend.inMemory();
    const begun = gate();
    let reason: unknown;
    const wait = handlerTask(async ({ signal }) => {
      begun.open();
      await aborted(signal).catch((error: unknown) => (reason = error));
    });
    const log = eventLog();
    await using kitchen = kitchenWith({ shareTasks: { wait } });
    await using service = await kitchen.start({ backend, listeners: [log.listener] });
    const request = requests()("wait");
    const result = ask(backend, request);
    await begun.opened;
    expect(service.requests().map(({ requestId, task }) => [requestId, task])).to.deep.equal([
      [request.requestId, "wait"],
    ]);
    expect(await Transport.of("kitchen", backend).cancel(request.requestId)).to.equal(true);
    expect(await result).to.include({ status: "CANCELLED", error: "Cancelled by the caller" });
    await until(() => log.shown().includes(`finished ${request.requestId} CANCELLED`));
    expect(String(reason)).to.contain("Cancelled by the caller");
    expect(service.requests()).to.deep.equal([]);
  });

  it("is not CANCELLED for a message to cancel without a stored result", async () => {
    const backend = NetworkBackend.inMemory();
    const [begun, done] = [gate(), gate<string>()];
    const wait = handlerTask(({ signal }) => {
      begun.open();
      return Promise.race([done.opened, aborted(signal)]);
    });
    await using kitchen = kitchenWith({ shareTasks: { wait } });
    await using _service = await kitchen.start({ backend });
    const request = requests()("wait");
    const result = ask(backend, request);
    await begun.opened;
    await backend.topics.publish(`cancel.${request.requestId}`, { reason: "a stranger" });
    await ask(backend, { ...request, requestId: "later", path: ["kitchen"] }); // rejected at once
    done.open("done");
    expect(await result).to.include({ status: "COMPLETED", result: "done" });
  });

  it("is CANCELLED at the next renewal if the message to cancel was lost", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const deaf: Backend = {
      ...backend,
      topics: { ...backend.topics, publish: async () => undefined },
    };
    const begun = gate();
    const wait = handlerTask(({ signal }) => {
      begun.open();
      return aborted(signal);
    });
    const log = eventLog();
    await using kitchen = kitchenWith({ shareTasks: { wait } }, clock);
    await using service = await kitchen.start({
      backend: deaf,
      leaseMs: 3_000,
      listeners: [log.listener],
    });
    const request = requests()("wait");
    await backend.queue.enqueue("kitchen", request);
    await begun.opened;
    await Transport.of("kitchen", deaf).cancel(request.requestId);
    await clock.advance(900);
    expect(service.requests().length).to.equal(1);
    await clock.advance(200);
    await until(() => service.requests().length === 0);
    expect(log.shown()).to.include(`finished ${request.requestId} CANCELLED`);
  });

  it("is FAILED at the deadline, which counts from acceptance", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const waiting = requests({ deadlineMs: 5_000 })("wait");
    const begun = gate();
    const wait = handlerTask(({ signal }) => {
      begun.open();
      return aborted(signal);
    });
    await backend.queue.enqueue("kitchen", waiting);
    await clock.advance(3_000);
    await using kitchen = kitchenWith({ shareTasks: { wait }, maxConcurrentRequests: 1 }, clock);
    await using _service = await kitchen.start({ backend });
    await begun.opened;
    await clock.advance(1_900);
    expect(await backend.results.retrieve(waiting.requestId)).to.equal(undefined);
    await clock.advance(200);
    expect(await resultOf(backend, waiting.requestId)).to.include({
      status: "FAILED",
      reason: "DEADLINE",
    });
  });

  it("is REJECTED if the deadline was over before the start of the execution", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const request = requests({ deadlineMs: 5_000 })("echo");
    await backend.queue.enqueue("kitchen", request);
    await clock.advance(5_000);
    await using kitchen = kitchenWith({}, clock);
    await using _service = await kitchen.start({ backend });
    expect(await resultOf(backend, request.requestId)).to.include({
      status: "REJECTED",
      reason: "EXPIRED",
      durationMs: 0,
    });
  });

  it("is FAILED POISON and a dead letter after too many deliveries, until it is redriven", async () => {
    const backend = NetworkBackend.inMemory();
    const log = eventLog();
    const request = requests()("echo", { context: "soup" });
    await deliver(backend, request, 5);
    await using kitchen = kitchenWith({});
    await using service = await kitchen.start({ backend, listeners: [log.listener] });
    expect(await resultOf(backend, request.requestId)).to.include({
      status: "FAILED",
      reason: "POISON",
      durationMs: 0,
    });
    await until(() => log.shown().includes(`dead_letter ${request.requestId}`));
    const [letter] = await service.deadLetters();
    expect(letter?.reason).to.contain("AE_RUN_POISONED");
    expect((await service.stats()).depth.dead).to.equal(1);
    expect(await service.redrive("unknown")).to.equal(false);
    expect(await service.redrive(request.requestId)).to.equal(true);
    expect(await resultOf(backend, request.requestId)).to.include({
      status: "COMPLETED",
      result: "soup",
      attempt: 1,
    });
  });

  it("is FAILED POISON after maxAttempts deliveries", async () => {
    const backend = NetworkBackend.inMemory();
    const [once, twice] = [requests()("echo", { requestId: "once" }), requests()("echo")];
    await deliver(backend, once, 1);
    await using kitchen = kitchenWith({});
    await using service = await kitchen.start({ backend, maxAttempts: 2 });
    expect(await resultOf(backend, "once")).to.include({ status: "COMPLETED", attempt: 2 });
    await service.stop();
    await deliver(backend, twice, 2);
    await using _again = await kitchen.start({ backend, maxAttempts: 2 });
    expect(await resultOf(backend, twice.requestId)).to.include({ reason: "POISON" });
  });

  it("is REJECTED for a loop, a large request, and another type", async () => {
    const backend = NetworkBackend.inMemory();
    const request = requests();
    await using kitchen = kitchenWith({});
    await using _service = await kitchen.start({ backend, maxMessageBytes: 500 });
    const reasons = [];
    for (const one of [
      request("echo", { path: ["hotel", "kitchen"] }),
      request("echo", { path: ["a", "b", "c", "d", "e", "f", "g", "h", "i"] }),
      request("echo", { context: "x".repeat(500) }),
      request("echo", { type: "TOOL" }),
      request("echo", { delivery: { method: "WEBHOOK", address: "http://localhost/" } }),
    ]) {
      const { status, reason } = await ask(backend, one);
      reasons.push(`${status} ${reason ?? ""}`);
    }
    expect(reasons).to.deep.equal([
      "REJECTED LOOP",
      "REJECTED LOOP",
      "REJECTED TOO_LARGE",
      "REJECTED INVALID_INPUT",
      "REJECTED INVALID_INPUT",
    ]);
  });

  it("is left to other instances for a minute if the name or the version is not shared here", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const log = eventLog();
    const request = requests();
    const [unknown, newer] = [request("bake"), request("echo", { version: "2" })];
    await using old = kitchenWith({ shareTasks: { echo: { task: echo, version: "1" } } }, clock);
    await using _service = await old.start({ backend, listeners: [log.listener] });
    await backend.queue.enqueue("kitchen", unknown);
    await backend.queue.enqueue("kitchen", newer);
    await clock.advance(10_000);
    expect(await backend.results.retrieve(unknown.requestId)).to.equal(undefined);
    expect(log.shown()).to.include(`request_released ${unknown.requestId}`);
    await using next = kitchenWith({ shareTasks: { echo: { task: echo, version: "2" } } }, clock);
    await using _newer = await next.start({ backend });
    await clock.advance(60_000);
    expect(await resultOf(backend, newer.requestId)).to.include({ status: "COMPLETED" });
    expect(await resultOf(backend, unknown.requestId)).to.include({
      status: "REJECTED",
      reason: "UNKNOWN",
    });
  });

  it("is set by another instance if the lease was lost: the run is aborted, and nothing is delivered", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const log = eventLog();
    const begun = gate();
    let executions = 0;
    const stall = handlerTask(({ signal }) => {
      if (++executions > 1) return "second";
      begun.open();
      return aborted(signal);
    });
    let isCutOff = true;
    const queue = changedQueue(backend.queue, {
      extend: async (lease) => (isCutOff ? false : backend.queue.extend(lease)),
    });
    await using kitchen = kitchenWith({ shareTasks: { stall } }, clock);
    await using _service = await kitchen.start({
      backend: { ...backend, queue },
      leaseMs: 3_000,
      listeners: [log.listener],
    });
    const request = requests()("stall");
    await backend.queue.enqueue("kitchen", request);
    await begun.opened;
    await clock.advance(1_000);
    expect(log.shown()).to.include(`lease_lost ${request.requestId}`);
    expect(await backend.results.retrieve(request.requestId)).to.equal(undefined);
    isCutOff = false;
    await clock.advance(3_000);
    expect(await resultOf(backend, request.requestId)).to.include({ result: "second", attempt: 2 });
  });

  it("keeps its lease if one renewal never receives an answer", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const [begun, finish] = [gate(), gate()];
    let executions = 0;
    const slow = handlerTask(async () => {
      executions++;
      begun.open();
      await finish.opened;
      return "done";
    });
    let renewals = 0;
    const queue = changedQueue(backend.queue, {
      extend: (lease) => (++renewals === 1 ? new Promise(() => {}) : backend.queue.extend(lease)),
    });
    await using kitchen = kitchenWith({ shareTasks: { slow } }, clock);
    await using _service = await kitchen.start({ backend: { ...backend, queue }, leaseMs: 3_000 });
    const request = requests()("slow");
    await backend.queue.enqueue("kitchen", request);
    await begun.opened;
    for (let n = 0; n < 5; n++) await clock.advance(1_000);
    finish.open();
    expect(await resultOf(backend, request.requestId)).to.include({ result: "done", attempt: 1 });
    expect(executions).to.equal(1);
    expect(renewals).to.be.at.least(4);
  });
});
