import { expect } from "chai";
import { Ensemble, JournalError, Task, RunSuspendedError } from "../../src/index.js";
import { Journal, durable } from "../../src/durability.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { until } from "../support/time.js";
import { SteppingClock } from "./stepping-clock.js";
import { aborted, ask, eventLog, gate, requests, resultOf } from "./support.js";

describe("a service with a journal", () => {
  it("continues a run on the next instance without repeating finished work", async () => {
    const backend = NetworkBackend.inMemory();
    const journal = Journal.inMemory();
    const calls = { first: 0, second: 0 };
    const reached = gate();
    /** An instance, as in a new process. */
    const instance = (isLast: boolean): Ensemble => {
      const first = new Task({ name: "first", description: "First", handler: () => ++calls.first });
      const second = new Task({
        name: "second",
        description: "Second",
        context: [first],
        handler: ({ signal, getOutput }) => {
          calls.second++;
          if (isLast) return `after ${String(getOutput(first).parsed)}`;
          reached.open();
          return aborted(signal);
        },
      });
      return new Ensemble({
        name: "kitchen",
        shareTasks: { cook: second },
        plugins: [durable({ journal })],
      });
    };
    await using before = instance(false);
    const stopping = await before.start({ backend });
    const request = requests()("cook", { requestId: "order-17" });
    await backend.queue.enqueue("kitchen", request);
    await reached.opened;
    await stopping.stop({ drainTimeoutMs: 0 });
    expect(await journal.get("order-17")).to.include({ status: "interrupted" });
    await using after = instance(true);
    await using _service = await after.start({ backend });
    expect(await resultOf(backend, "order-17")).to.include({
      status: "COMPLETED",
      result: "after 1",
      attempt: 1,
    });
    expect(calls).to.deep.equal({ first: 1, second: 2 });
    expect(await journal.get("order-17")).to.include({
      status: "completed",
      ensemble: "kitchen--cook",
    });
  });

  it("asks again later for a run that waits for a review", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const log = eventLog();
    let isAnswered = false;
    const cook = new Task({
      description: "Cook",
      handler: () => {
        if (!isAnswered) throw new RunSuspendedError("Waits for the chef");
        return "done";
      },
    });
    await using kitchen = new Ensemble({
      name: "kitchen",
      shareTasks: { cook },
      plugins: [clock.plugin()],
    });
    await using _service = await kitchen.start({ backend, listeners: [log.listener] });
    const request = requests()("cook");
    const result = ask(backend, request);
    await until(() => log.shown().includes(`request_released ${request.requestId}`));
    isAnswered = true;
    await clock.advance(20_000);
    expect(await result).to.include({ status: "COMPLETED", result: "done", attempt: 1 });
  });

  it("returns a run to the queue while its journal is unavailable, and counts the delivery", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    const log = eventLog();
    const error = new JournalError("no connection", { cause: new Error("ECONNREFUSED") });
    await using kitchen = kitchenWith(journalThatFails(error), clock);
    await using _service = await kitchen.start({ backend, listeners: [log.listener] });
    const request = requests()("cook");
    const result = ask(backend, request);
    await until(() => log.shown().includes(`request_released ${request.requestId}`));
    await clock.advance(20_000);
    expect(await result).to.include({ status: "COMPLETED", result: "done", attempt: 2 });
  });

  it("ends a run that its journal refuses", async () => {
    const clock = new SteppingClock();
    const backend = NetworkBackend.inMemory({ clock });
    await using kitchen = kitchenWith(journalThatFails(new JournalError("too large")), clock);
    await using _service = await kitchen.start({ backend });
    const response = await ask(backend, requests()("cook"));
    expect(response).to.include({ status: "FAILED", reason: "RUN_FAILED", attempt: 1 });
    expect(response.error).to.contain("too large");
  });
});

function kitchenWith(journal: Journal, clock: SteppingClock): Ensemble {
  return new Ensemble({
    name: "kitchen",
    shareTasks: { cook: new Task({ description: "Cook", handler: () => "done" }) },
    plugins: [clock.plugin(), durable({ journal })],
  });
}

/** A journal whose first claim fails. */
function journalThatFails(error: JournalError): Journal {
  const journal = Journal.inMemory();
  let hasFailed = false;
  return new Proxy(journal, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...values: readonly unknown[]): unknown => {
        if (name !== "claim" || hasFailed) return Reflect.apply(value, target, values);
        hasFailed = true;
        return Promise.reject(error);
      };
    },
  });
}
