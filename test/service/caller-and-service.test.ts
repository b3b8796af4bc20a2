import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { expect } from "chai";
import type { EnsembleOptions, Remote } from "agentensemble";
import { Agent, Ensemble, Kernel, RateLimit, Task } from "agentensemble";
import { mcpServer } from "agentensemble/mcp";
import { network, NetworkBackend, NetworkTask } from "agentensemble/network";
import { otel } from "agentensemble/observability/otel";
import { ScriptedModel } from "agentensemble/testing";
import { RecordedSpans } from "../plugins/observability/otel/span-tree.js";
import { ask, requests } from "./support.js";

const USAGE = { inputTokens: 1_000, outputTokens: 24 };

function kitchen(more: Partial<EnsembleOptions> = {}): Ensemble {
  return new Ensemble({
    name: "kitchen",
    model: new ScriptedModel([{ text: "soup", usage: USAGE }], { onExhausted: "repeat-last" }),
    shareTasks: { cook: new Task({ description: "Cook {context}", agent: new Agent({ role: "Cook", goal: "Cook" }) }) }, // prettier-ignore
    ...more,
  });
}

/** An ensemble whose agent calls `cook` once: two calls of 15 tokens. */
function hotel(place: NetworkBackend | Remote, more: Partial<EnsembleOptions> = {}): Ensemble {
  const tools = [NetworkTask.from("kitchen", "cook")];
  return new Ensemble({
    name: "hotel",
    model: new ScriptedModel([
      {
        toolCalls: [{ name: "kitchen__cook", arguments: { context: "soup" } }],
        usage: { inputTokens: 10, outputTokens: 5 },
      },
      { text: "served", usage: { inputTokens: 10, outputTokens: 5 } },
    ]),
    tasks: [new Task({ description: "Serve", agent: new Agent({ role: "Waiter", goal: "Serve", tools }) })], // prettier-ignore
    ...more,
    plugins: [network({ name: "hotel", ensembles: { kitchen: place } }), ...(more.plugins ?? [])],
  });
}

describe("a caller and a service together", () => {
  before(
    () => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()),
  );
  after(() => context.disable());

  it("have one trace in two exporters, over HTTP", async () => {
    const [here, there] = [new RecordedSpans(), new RecordedSpans()];
    const tracing = ({ tracerProvider }: RecordedSpans) => otel({ tracerProvider });
    await using serving = kitchen({ plugins: [tracing(there)] });
    const { url = "" } = await serving.start({ port: 0, signals: false });
    await using calling = hotel({ url } as never, { plugins: [tracing(here)] });
    await calling.run();
    await serving.stop();
    const [own, remote] = [here, there].map(({ exporter }) => exporter.getFinishedSpans());
    const traceIds = [...(own ?? []), ...(remote ?? [])].map((span) => span.spanContext().traceId);
    expect([own?.length ?? 0, remote?.length ?? 0].every((count) => count > 0)).to.equal(true);
    expect(new Set(traceIds).size).to.equal(1);
    const callers = new Set(own?.map((span) => span.spanContext().spanId));
    const root = remote?.find(({ parentSpanContext }) =>
      callers.has(parentSpanContext?.spanId ?? ""),
    );
    expect(root).to.not.equal(undefined);
  });

  it("count the usage of the service in the totals of the caller", async () => {
    const backend = NetworkBackend.inMemory();
    await using serving = kitchen();
    await serving.start({ backend, signals: false });
    await using calling = hotel(backend);
    const { metrics } = await calling.run();
    const direct = await ask(backend, requests()("cook", { context: "soup" }));
    const [used] = direct.usage ?? [];
    expect(metrics.totalTokens).to.equal(30 + (used?.inputTokens ?? 0) + (used?.outputTokens ?? 0));
    expect(metrics.inputTokens).to.equal(20 + USAGE.inputTokens);
  });

  it("count what a request has used whose result is CANCELLED", async () => {
    const usage = [{ source: "kitchen", provider: "p", modelId: "m", calls: 1, ...USAGE }];
    const remote: Remote = {
      send: async () => ({ status: "ACCEPTED" }),
      response: async (requestId) => {
        return { v: 1, requestId, status: "CANCELLED", reason: "CANCELLED", durationMs: 1, usage };
      },
      decide: async () => false,
      cancel: async () => false,
      capabilities: async () => [{ name: "cook", type: "TASK", description: "Cooks" }],
      close: async () => undefined,
    };
    await using calling = hotel(remote);
    expect((await calling.run()).metrics.totalTokens).to.equal(30 + 1_024);
  });

  it("have one rate limit of an agent with the tasks that mcpServer() offers on the same kernel", async () => {
    const backend = NetworkBackend.inMemory();
    const kernel = new Kernel();
    const rateLimit = RateLimit.of(2, 3_600_000).with({ waitTimeoutMs: 1 });
    const agent = new Agent({ role: "Cook", goal: "Cook", rateLimit });
    const model = new ScriptedModel([{ text: "soup" }], { onExhausted: "repeat-last" });
    const task = new Task({ name: "cook", description: "Cook {context}", agent });
    await using serving = kitchen({ kernel, model, shareTasks: { cook: task } });
    await serving.start({ backend, signals: false });
    await using server = mcpServer({ name: "kitchen", kernel, model, tasks: [task] });
    const [near, far] = InMemoryTransport.createLinkedPair();
    void server.serve(near);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(far);
    const request = requests({ context: "soup" });
    const first = await ask(backend, request("cook"));
    const second = await client.callTool({ name: "cook", arguments: { context: "soup" } });
    const third = await ask(backend, request("cook"));
    const fourth = await client.callTool({ name: "cook", arguments: { context: "soup" } });
    expect([first.status, second.isError === true]).to.deep.equal(["COMPLETED", false]);
    expect([third.status, fourth.isError]).to.deep.equal(["FAILED", true]);
    await client.close();
    await kernel.dispose();
  });
});
