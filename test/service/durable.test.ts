import { expect } from "chai";
import { Ensemble, Task, RunSuspendedError } from "../../src/index.js";
import { Journal, durable } from "../../src/durability.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { until } from "../support/time.js";
import { SteppingClock } from "./stepping-clock.js";
import { aborted, ask, eventLog, gate, requests, resultOf } from "./support.js";

describe("a service whose runs are kept", () => {
  it("continues a run on the next instance: what was finished is not done again", async () => {
    const backend = NetworkBackend.inMemory();
    const journal = Journal.inMemory();
    const calls = { first: 0, second: 0 };
    const reached = gate();
    /** An instance, as a new process would have it. */
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

  it("asks again later for a run that waits for people", async () => {
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
});
