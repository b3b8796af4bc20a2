import { expect } from "chai";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { Ensemble, Task, tool } from "../../src/index.js";
import { ask, eventLog, handlerTask, requests } from "./support.js";

describe("requests of a service", () => {
  it("are runs of shared tasks, with the id, the inputs and the tags of the request", async () => {
    const backend = NetworkBackend.inMemory();
    const log = eventLog();
    await using kitchen = new Ensemble({
      name: "kitchen",
      shareTasks: {
        cook: handlerTask(({ run, inputs }) => ({ id: run.id, inputs, tags: run.tags })),
      },
    });
    await using service = await kitchen.start({
      backend,
      listeners: [log.listener],
      instance: "a",
    });
    const request = requests()("cook", { context: "soup", inputs: { salt: 2 } });
    const response = await ask(backend, request);
    expect(response).to.deep.include({
      v: 1,
      requestId: "request-1",
      status: "COMPLETED",
      attempt: 1,
      servedBy: "a",
      parsed: {
        id: "request-1",
        inputs: { salt: 2, context: "soup" },
        tags: { "network.from": "tests", "network.request": "request-1" },
      },
    });
    await service.stop();
    expect(log.shown()).to.deep.equal([
      "STARTING",
      "READY",
      "request_started request-1",
      ...["finished request-1 COMPLETED", "DRAINING"].sort(
        (a, b) => log.shown().indexOf(a) - log.shown().indexOf(b),
      ),
      "STOPPED",
    ]);
  });

  it("fill the variables of a shared task, and are refused without a value", async () => {
    const backend = NetworkBackend.inMemory();
    await using kitchen = new Ensemble({
      name: "kitchen",
      model: "offline:extractive",
      shareTasks: { cook: Task.of("Cook {dish} for {guest}") },
      inputs: { guest: "Ana" },
    });
    await using _service = await kitchen.start({ backend });
    const request = requests();
    expect(await ask(backend, request("cook", { inputs: { dish: "soup" } }))).to.deep.include({
      status: "COMPLETED",
    });
    const refused = await ask(backend, request("cook"));
    expect(refused).to.deep.include({ status: "REJECTED", reason: "INVALID_INPUT" });
    expect(refused.error).to.contain("dish");
  });

  it("call shared tools with their inputs, checked by the schema of the tool", async () => {
    const backend = NetworkBackend.inMemory();
    await using kitchen = new Ensemble({
      name: "kitchen",
      shareTools: {
        upper: tool({
          name: "to-upper",
          description: "Upper",
          execute: (text) => text.toUpperCase(),
        }),
      },
    });
    await using _service = await kitchen.start({ backend });
    const request = requests({ type: "TOOL" });
    const done = await ask(backend, request("upper", { inputs: { input: "soup" } }));
    expect(done).to.deep.include({ status: "COMPLETED", result: "SOUP" });
    const byContext = await ask(backend, request("upper", { context: "rice" }));
    expect(byContext).to.deep.include({ status: "COMPLETED", result: "RICE" });
    const wrong = await ask(backend, request("upper", { inputs: { other: 1 } }));
    expect(wrong).to.deep.include({ status: "REJECTED", reason: "INVALID_INPUT" });
  });
});
