import { expect } from "chai";
import type { EnsembleOptions, RequestQueue } from "../../src/index.js";
import { definePlugin, Ensemble, NetworkError, Tokens } from "../../src/index.js";
import { NetworkBackend } from "../../src/plugins/network/shared/backends.js";
import { prometheus } from "../../src/plugins/observability/prometheus/index.js";
import { rejection } from "../support/rejection.js";
import { until } from "../support/time.js";
import { warningsOf } from "../support/warnings.js";
import { ask, changedQueue, eventLog, gate, handlerTask, requests, resultOf } from "./support.js";

/** The lines of a metric. */
async function linesOf(metrics: () => Promise<string>, name: string): Promise<readonly string[]> {
  const text = await metrics();
  return text.split("\n").filter((line) => line.startsWith(`agentensemble_${name}`));
}

describe("the metrics of a service", () => {
  const kitchen = (options: Partial<EnsembleOptions>): Ensemble =>
    new Ensemble({
      name: "kitchen",
      shareTasks: { cook: handlerTask(() => "soup") },
      ...options,
    });

  it("count requests, and show queue and capacity while the service runs", async () => {
    const backend = NetworkBackend.inMemory();
    const plugin = prometheus();
    const hold = gate<string>();
    const wait = handlerTask(() => hold.opened);
    await using one = kitchen({
      shareTasks: { cook: handlerTask(() => "soup"), wait },
      plugins: [plugin],
      maxConcurrentRequests: 2,
    });
    const service = await one.start({ backend, signals: false });
    const send = requests();
    await ask(backend, send("cook"));
    const held = [send("wait"), send("wait"), send("cook")];
    for (const request of held) await backend.queue.enqueue("kitchen", request);
    await until(() => service.requests().length === 2);
    await until(async () => (await linesOf(plugin.metrics, "network_requests_total{")).length > 0);
    const text = await plugin.metrics();
    for (const line of [
      'agentensemble_network_requests_total{from="tests",to="kitchen",task="cook",status="COMPLETED"} 1',
      'agentensemble_network_request_duration_seconds_count{to="kitchen",task="cook"} 1',
      'agentensemble_queued_requests{ensemble="kitchen"} 1',
      'agentensemble_max_concurrent{ensemble="kitchen"} 2',
      'agentensemble_capacity_utilization{ensemble="kitchen"} 1',
    ])
      expect(text.split("\n")).to.include(line);
    const [oldest] = await linesOf(plugin.metrics, "oldest_wait_seconds{");
    expect(Number(oldest?.split(" ").at(-1))).to.be.at.least(0);
    hold.open("done");
    for (const { requestId } of held) await resultOf(backend, requestId);
    await service.stop();
    expect(await linesOf(plugin.metrics, "queued_requests{")).to.deep.equal([]);
    const ended = await linesOf(plugin.metrics, "network_requests_total{");
    expect(ended.map((line) => line.split(" ").at(-1))).to.have.members(["2", "2"]);
  });

  it("leave the warnings of a service without a listener to the process", async () => {
    await using one = kitchen({ shareTasks: {}, plugins: [prometheus()] });
    const warnings = await warningsOf(async () => void (await one.start({ signals: false })));
    expect(warnings.join()).to.contain("The ensemble shares nothing");
  });

  it("end also if another observer of the service fails at its end", async () => {
    const plugin = prometheus();
    const faulty = definePlugin({
      name: "faulty",
      bind: (bind) =>
        void bind.many(Tokens.ServiceObserver).toConstantValue({
          observe: () => () => {
            throw new Error("odd");
          },
        }),
    });
    await using one = kitchen({ plugins: [faulty, plugin] });
    const log = eventLog();
    const service = await one.start({ signals: false, listeners: [log.listener] });
    await service.stop();
    await until(() => log.shown().some((text) => text.includes("failed at its end: odd")));
    expect(await linesOf(plugin.metrics, "queued_requests{")).to.deep.equal([]);
  });

  it("count redeliveries and dead letters", async () => {
    const backend = NetworkBackend.inMemory();
    const plugin = prometheus();
    const send = requests();
    const died = async (times: number): Promise<string> => {
      const request = send("cook");
      await backend.queue.enqueue("kitchen", request);
      for (let n = 0; n < times; n++) {
        const lease = await backend.queue.dequeue("kitchen", { timeoutMs: 1_000, leaseMs: 60_000 });
        if (lease !== undefined) await backend.queue.release(lease); // as a process that died
      }
      return request.requestId;
    };
    const poisoned = await died(2);
    await using one = kitchen({ plugins: [plugin] });
    await one.start({ backend, maxAttempts: 2, signals: false });
    await resultOf(backend, poisoned);
    await until(async () => (await linesOf(plugin.metrics, "dead_letters_total{")).length === 1);
    await one.stop();
    const once = await died(1);
    await one.start({ backend, maxAttempts: 2, signals: false });
    expect(await resultOf(backend, once)).to.include({ status: "COMPLETED", attempt: 2 });
    expect(await linesOf(plugin.metrics, "redeliveries_total{")).to.deep.equal([
      'agentensemble_redeliveries_total{ensemble="kitchen"} 1',
    ]);
  });

  it("omit the depth of a queue that does not answer, and a start that failed", async () => {
    const sound = NetworkBackend.inMemory();
    let isAway = false;
    const depth: RequestQueue["depth"] = async (queue) => {
      if (isAway) throw new NetworkError("away on purpose");
      return sound.queue.depth(queue);
    };
    const backend = { ...sound, queue: changedQueue(sound.queue, { depth }) };
    const plugin = prometheus();
    await using one = kitchen({ plugins: [plugin] });
    const announce = async (): Promise<never> => Promise.reject(new Error("no announcement"));
    const catalogue = { ...sound.catalogue, announce, withdraw: async () => undefined };
    await rejection(
      one.start({ backend: { ...backend, catalogue: { ...catalogue, entries: async () => [] } } }),
    );
    expect(await linesOf(plugin.metrics, "max_concurrent{")).to.deep.equal([]);
    await one.start({ backend, signals: false });
    expect(await linesOf(plugin.metrics, "queued_requests{")).to.have.length(1);
    isAway = true;
    expect(await linesOf(plugin.metrics, "queued_requests{")).to.deep.equal([]);
    expect(await linesOf(plugin.metrics, "max_concurrent{")).to.have.length(1);
  });
});
