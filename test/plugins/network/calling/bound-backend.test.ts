import type { BudgetAccounts, Plugin, RateWindow, ServiceEvent } from "agentensemble";
import { Agent, definePlugin, Ensemble, Kernel, Task, Tokens } from "agentensemble";
import {
  network,
  NetworkBackend,
  NetworkTask,
  NetworkTokens,
  NetworkTools,
  sharedLimits,
} from "agentensemble/network";
import { recordingListener, ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { rejection } from "../../../support/rejection.js";

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

describe("requests outside of a run", () => {
  it("use the backend that the kernel of their ensemble binds", async () => {
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
    const calls = network({ name: "hotel" });
    await using _hotel = new Ensemble({ name: "hotel", plugins: [calls, bound] });
    expect(await calls.network.request("kitchen", "cook", { context: "x" })).to.include({
      result: "soup",
    });
    const alone = network({ name: "alone" });
    await using _alone = new Ensemble({ name: "alone", plugins: [alone] });
    const error = await rejection(alone.network.request("kitchen", "cook"));
    expect(String(error)).to.contain("has no ensemble 'kitchen'");
  });
});

describe("limits of all processes", () => {
  it("do not replace a window that a plugin binds", async () => {
    const window = (): RateWindow => ({ take: () => ({ begin() {}, end() {} }) });
    const [own, fleet] = [window(), window()];
    const budgetAccounts: BudgetAccounts = { open: () => Promise.reject(new Error("unused")) };
    const { queue, results } = NetworkBackend.inMemory();
    const backend = NetworkBackend.of({
      ...{ name: "counting", queue, results },
      limits: { rateWindow: fleet, budgetAccounts },
    });
    const mine = definePlugin({
      name: "mine",
      bind: (bind) => void bind.single(Tokens.RateWindow).toConstantValue(own),
    });
    const boundTo = async (plugins: readonly Plugin[]) => {
      const kernel = new Kernel({ plugins });
      new Ensemble({ kernel }); // adds the standard plugins
      await kernel.boot();
      const bound = [
        kernel.container.get(Tokens.RateWindow),
        kernel.container.get(Tokens.BudgetAccounts),
      ];
      await kernel.dispose();
      return bound;
    };
    expect(await boundTo([mine, sharedLimits(backend)])).to.deep.equal([own, budgetAccounts]);
    expect(await boundTo([sharedLimits(backend)])).to.deep.equal([fleet, budgetAccounts]);
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
