import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { expect } from "chai";
import type { EnsembleOptions, EnsembleOutput, Remote } from "agentensemble";
import { Agent, AgentEnsembleError, Ensemble, Kernel, RateLimit, Task, tool } from "agentensemble";
import { mcpServer } from "agentensemble/mcp";
import { a2a } from "agentensemble/network/a2a";
import { network, NetworkBackend, NetworkTask } from "agentensemble/network";
import { otel } from "agentensemble/observability/otel";
import { ScriptedModel } from "agentensemble/testing";
import { RecordedSpans } from "../plugins/observability/otel/span-tree.js";
import { SteppingClock } from "./stepping-clock.js";
import { rejectionOf } from "../support/rejection.js";
import { aborted, ask, gate, requests } from "./support.js";

const USAGE = { inputTokens: 1_000, outputTokens: 24 };

function kitchen(more: Partial<EnsembleOptions> = {}): Ensemble {
  return new Ensemble({
    name: "kitchen",
    model: new ScriptedModel([{ text: "soup", usage: USAGE }], { onExhausted: "repeat-last" }),
    shareTasks: { cook: new Task({ description: "Cook {context}", agent: new Agent({ role: "Cook", goal: "Cook" }) }) }, // prettier-ignore
    ...more,
  });
}

/** A service whose agent calls a model, and then a tool that ends with its run. */
function slowKitchen(): { readonly ensemble: Ensemble; readonly begun: Promise<void> } {
  const { opened: begun, open } = gate();
  const wait = tool({
    name: "wait",
    description: "Waits",
    input: { type: "object", properties: {} },
    execute: (_input, { signal }) => {
      open();
      return aborted(signal);
    },
  });
  const agent = new Agent({ role: "Cook", goal: "Cook", tools: [wait] });
  const model = new ScriptedModel([{ toolCalls: [{ name: "wait", arguments: {} }], usage: USAGE }]);
  const cook = new Task({ description: "Cook {context}", agent });
  return { ensemble: kitchen({ model, shareTasks: { cook } }), begun };
}

/** An ensemble whose agent calls `cook` once: two calls of 15 tokens. */
function hotel(
  place: NetworkBackend | Remote,
  {
    clock,
    timeoutMs,
    ...more
  }: Partial<EnsembleOptions> & {
    readonly clock?: SteppingClock;
    readonly timeoutMs?: number;
  } = {},
): Ensemble {
  const tools = [NetworkTask.from("kitchen", "cook", { timeoutMs })];
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
    plugins: [
      network({ name: "hotel", ensembles: { kitchen: place }, clock }),
      ...(more.plugins ?? []),
    ],
  });
}

describe("a caller and a service together", () => {
  before(
    () => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()),
  );
  after(() => context.disable());

  it("produce one trace in two exporters, over HTTP", async () => {
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

  it("count the usage of a request with the result CANCELLED", async () => {
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

  for (const place of ["a backend", "A2A"] as const)
    it(`count the usage of a request that was cancelled with its caller, over ${place}`, async () => {
      const backend = NetworkBackend.inMemory();
      const cooking = slowKitchen();
      await using serving = cooking.ensemble;
      const service = await serving.start({ backend, port: 0, signals: false });
      const remote = place === "A2A" ? a2a(service.url ?? "") : backend;
      await using calling = hotel(remote);
      const leaving = new AbortController();
      const running = rejectionOf(
        AgentEnsembleError,
        calling.run({}, { signal: leaving.signal, cancelGraceMs: 20_000 }),
      );
      await cooking.begun;
      leaving.abort();
      const { output } = (await running) as { readonly output?: EnsembleOutput }; // of a run
      expect(output?.metrics.totalTokens).to.equal(15 + 1_024);
    });

  it("count the usage of a request whose caller has stopped waiting", async () => {
    const backend = NetworkBackend.inMemory();
    const cooking = slowKitchen();
    await using serving = cooking.ensemble;
    await serving.start({ backend, signals: false });
    const clock = new SteppingClock();
    await using calling = hotel(backend, { clock, timeoutMs: 60_000, plugins: [clock.plugin()] });
    const running = calling.run();
    await cooking.begun;
    let isOver = false;
    const ended = running.finally(() => (isOver = true));
    await clock.advance(60_000);
    while (!isOver) await clock.advance(10);
    const { raw, metrics } = await ended;
    expect(raw).to.equal("served");
    expect(metrics.totalTokens).to.equal(30 + 1_024);
  });

  it("share the rate limit of an agent with the tasks that mcpServer() offers on the same kernel", async () => {
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
