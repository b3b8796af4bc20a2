import { expect } from "chai";
import type { ToolLike } from "agentensemble";
import type { NetworkPlugin } from "agentensemble/network";
import { Agent, definePlugin, Ensemble, Task } from "agentensemble";
import {
  network,
  NetworkBackend,
  NetworkTask,
  NetworkTokens,
  NetworkTools,
  Transport,
} from "agentensemble/network";
import { recordingListener, ScriptedModel } from "agentensemble/testing";
import { AnnouncedLimits } from "../../src/plugins/network/calling/announced-limits.js";
import { NetworkError } from "../../src/contracts/network-errors.js";
import { rejectionOf } from "../support/rejection.js";
import { until } from "../support/time.js";
import { gate, handlerTask, requests } from "./support.js";

const CONTENT = { type: "TASK", inputs: {} } as const;

/** A service with one request in execution, and with room for one request that waits. */
async function withBusyKitchen(
  body: (o: {
    readonly backend: NetworkBackend;
    readonly calls: NetworkPlugin["network"];
    readonly finish: () => void;
  }) => Promise<void>,
): Promise<void> {
  const backend = NetworkBackend.inMemory();
  const [begun, done] = [gate(), gate<string>()];
  const wait = handlerTask(() => {
    begun.open();
    return done.opened;
  });
  await using kitchen = new Ensemble({
    name: "kitchen",
    shareTasks: { wait },
    maxConcurrentRequests: 1,
    maxQueuedRequests: 1,
  });
  await using _service = await kitchen.start({ backend, signals: false });
  const { network: calls } = network({ name: "shop", backend });
  const first = calls.request("kitchen", "wait", CONTENT);
  await begun.opened;
  try {
    await body({ backend, calls, finish: () => done.open("done") });
  } finally {
    done.open("done");
    await first;
  }
}

/** The text that an agent receives from its tool `kitchen__wait`. */
async function toldBy(tool: ToolLike, backend: NetworkBackend): Promise<string> {
  const seen = recordingListener();
  const agent = new Agent({ role: "Waiter", goal: "Serve", tools: [tool] });
  const bound = definePlugin({
    name: "backend",
    bind: (bind) => void bind.single(NetworkTokens.NetworkBackend).toConstantValue(backend),
  });
  await using hotel = new Ensemble({
    model: new ScriptedModel([
      { toolCalls: [{ name: "kitchen__wait", arguments: { context: "x" } }] },
      { text: "served" },
    ]),
    listeners: [seen],
    plugins: [bound, network({ name: "hotel" })],
    tasks: [new Task({ description: "Serve", agent })],
  });
  await hotel.run();
  return seen.of("tool_called")[0]?.toolResult ?? "";
}

describe("maxQueuedRequests over a backend", () => {
  it("refuses further requests of network(), and repeats accepted ones", () =>
    withBusyKitchen(async ({ backend, calls, finish }) => {
      const content = { ...CONTENT, requestId: "order-1" };
      const second = calls.request("kitchen", "wait", content);
      await until(async () => (await backend.queue.depth("kitchen")).queued === 1);
      const third = await calls.request("kitchen", "wait", CONTENT, { timeoutMs: 5_000 });
      expect(third).to.include({ status: "REJECTED", reason: "AT_CAPACITY" });
      const again = calls.request("kitchen", "wait", content);
      finish();
      expect((await second).status).to.equal("COMPLETED");
      expect((await again).status).to.equal("COMPLETED");
    }));

  it("refuses further requests of tools over the backend that a kernel binds", () =>
    withBusyKitchen(async ({ backend }) => {
      await Transport.of("kitchen", backend).send(requests()("wait"));
      for (const tool of [
        NetworkTask.from("kitchen", "wait", { timeoutMs: 500 }),
        NetworkTools.all(),
      ])
        expect(await toldBy(tool, backend)).to.equal(
          "Error: 'kitchen' has too much to do at the moment",
        );
    }));

  it("does not apply to Transport.of(), which has the option maxQueued", () =>
    withBusyKitchen(async ({ backend }) => {
      const request = requests();
      const statuses = [];
      for (const transport of [
        Transport.of("kitchen", backend),
        Transport.of("kitchen", backend),
        Transport.of("kitchen", backend, { maxQueued: 2 }),
      ])
        statuses.push((await transport.send(request("wait"))).status);
      expect(statuses).to.eql(["ACCEPTED", "ACCEPTED", "FULL"]);
      expect(() => Transport.of("kitchen", backend, { maxQueued: -1 })).to.throw("maxQueued");
    }));
});

describe("the limits that instances announce", () => {
  const entry = (instance: string, maxQueuedRequests?: number, ensemble = "kitchen"): object => ({
    ...{ ensemble, instance, capabilities: [] },
    ...(maxQueuedRequests !== undefined && { maxQueuedRequests }),
  });

  it("are read again after ten seconds, and the greatest limit of an ensemble counts", async () => {
    let nowMs = 0;
    let reads = 0;
    const { catalogue, ...parts } = NetworkBackend.inMemory();
    const backend = {
      ...parts,
      catalogue: Object.assign(Object.create(catalogue) as typeof catalogue, {
        entries: async () => {
          if (++reads === 1) throw new NetworkError("away");
          const list = [entry("a", 5), entry("b", 7), entry("old"), entry("c", 9, "bar")];
          return list.slice(0, reads === 2 ? 4 : 1) as never; // entries of the test
        },
      }),
    };
    const limits = new AnnouncedLimits({ monotonicMs: () => nowMs });
    await rejectionOf(NetworkError, limits.of("kitchen", backend));
    const both = await Promise.all([limits.of("kitchen", backend), limits.of("bar", backend)]);
    expect([...both, await limits.of("none", backend), reads]).to.eql([7, 9, undefined, 2]);
    nowMs = 10_000;
    expect([await limits.of("kitchen", backend), reads]).to.eql([5, 3]);
  });
});
