import type { ServiceEvent } from "agentensemble";
import { Agent, definePlugin, Ensemble, Task } from "agentensemble";
import {
  network,
  NetworkBackend,
  NetworkTask,
  NetworkTokens,
  NetworkTools,
} from "agentensemble/network";
import { recordingListener, ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";

describe("the backend that a kernel binds", () => {
  it("is that of network() without the option backend", async () => {
    const backend = NetworkBackend.inMemory();
    await using kitchen = new Ensemble({
      name: "kitchen",
      shareTasks: { cook: new Task({ description: "Cook {context}", handler: () => "soup" }) },
    });
    await kitchen.start({ backend, signals: false });
    const bound = definePlugin({
      name: "bound",
      bind: (bind) => void bind.single(NetworkTokens.NetworkBackend).toConstantValue(backend),
    });
    const texts: string[] = [];
    for (const tools of [[NetworkTask.from("kitchen", "cook")], [NetworkTools.all()]]) {
      const seen = recordingListener();
      const agent = new Agent({ role: "Waiter", goal: "Serve", tools });
      await using hotel = new Ensemble({
        model: new ScriptedModel([
          { toolCalls: [{ name: "kitchen__cook", arguments: { context: "soup" } }] },
          { text: "done" },
        ]),
        plugins: [network({ name: "hotel" }), bound],
        listeners: [seen],
        tasks: [new Task({ description: "Serve", agent })],
      });
      await hotel.run();
      texts.push(seen.of("tool_called")[0]?.toolResult ?? "");
    }
    expect(texts).to.deep.equal(["soup", "soup"]);
  });
});

describe("a service that shares nothing", () => {
  it("reports it", async () => {
    const warnings: string[] = [];
    const listener = (e: ServiceEvent): void => {
      if (e.type === "service_warning") warnings.push(e.message);
    };
    await using empty = new Ensemble({ name: "empty" });
    await empty.start({ signals: false, listeners: [listener] });
    await using whole = new Ensemble({ name: "whole", shareRun: true });
    await whole.start({ signals: false, listeners: [listener] });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(/shares nothing/);
  });
});
