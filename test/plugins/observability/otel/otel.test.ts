import { context, metrics, trace, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { expect } from "chai";
import {
  Agent,
  answer,
  definePlugin,
  Ensemble,
  ExitEarlySignal,
  Kernel,
  ModelCallError,
  reject,
  replace,
  Task,
  Tokens,
  tool,
  ToolResult,
  ValidationError,
} from "../../../../src/index.js";
import type { EnsembleOptions, Plugin, TraceContext } from "../../../../src/index.js";
import { otel } from "../../../../src/plugins/observability/otel/index.js";
import type { OtelOptions } from "../../../../src/plugins/observability/otel/index.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { RecordedSpans } from "./span-tree.js";
import { pause } from "../../../support/time.js";
import { setEnvironment } from "../../../support/environment.js";

const clerk = (more: object = {}): Agent => new Agent({ role: "Clerk", goal: "Do it", ...more });
const oneTask = (more: object = {}): Task =>
  new Task({ name: "job", description: "Secret description", agent: clerk(more) });
const useTool = (
  name: string,
  input = "hi",
): { toolCalls: { name: string; arguments: object }[] } => ({
  toolCalls: [{ name, arguments: { input } }],
});

describe("otel", () => {
  let spans: RecordedSpans;
  beforeEach(() => (spans = new RecordedSpans()));

  /** Runs one task; the run's error is left to the caller's expectations. */
  async function run(
    options: Partial<EnsembleOptions>,
    o: OtelOptions = {},
    more: readonly Plugin[] = [],
  ): Promise<unknown> {
    const plugins = [otel({ tracerProvider: spans.tracerProvider, ...o }), ...more];
    await using ensemble = new Ensemble({ tasks: [oneTask()], ...options, plugins });
    return await ensemble
      .run({}, { runId: "r1", tags: { customer: "acme" } })
      .catch((error: unknown) => error);
  }

  describe("attributes", () => {
    it("of a run are its name, kind, tags and end", async () => {
      await run(
        { model: new ScriptedModel(["ok"]) },
        { workflowName: ({ tags }) => `for ${tags["customer"]}` },
      );
      const { attributes, status, kind } = spans.one("invoke_workflow for acme");
      expect(attributes).to.include({
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "for acme",
        "agentensemble.run.id": "r1",
        "agentensemble.run.tag.customer": "acme",
        "agentensemble.workflow": "SEQUENTIAL",
        "agentensemble.total_tasks": 1,
        "agentensemble.exit_reason": "COMPLETED",
      });
      expect(status.code).to.equal(SpanStatusCode.UNSET);
      expect(kind).to.equal(SpanKind.INTERNAL);
    });

    it("of a task are agent, provider and model, and the sums of its tokens", async () => {
      const usage = { inputTokens: 7, outputTokens: 3 };
      await run({
        model: new ScriptedModel([{ text: "ok", usage }], { provider: "openai", modelId: "m1" }),
      });
      expect(spans.one("invoke_agent Clerk").attributes).to.include({
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "Clerk",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m1",
        "gen_ai.usage.input_tokens": 7,
        "agentensemble.task.id": "job",
        "agentensemble.task.index": 1,
      });
    });

    it("of a model call are request, response and usage, on a client span", async () => {
      const model = new ScriptedModel(
        [{ text: "ok", usage: { inputTokens: 7, outputTokens: 3 } }],
        { provider: "openai", modelId: "m1" },
      );
      await run({
        model,
        tasks: [oneTask({ modelOptions: { temperature: 0.5, maxOutputTokens: 9 } })],
      });
      const { attributes, kind } = spans.one("chat m1");
      expect(kind).to.equal(SpanKind.CLIENT);
      expect(attributes).to.include({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m1",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 3,
        "agentensemble.purpose": "task",
        "agentensemble.attempt": 1,
      });
      expect(attributes["gen_ai.response.finish_reasons"]).to.deep.equal(["stop"]);
      expect(attributes).to.not.have.property("gen_ai.response.time_to_first_chunk");
    });

    it("of a streamed call include the time to its first chunk", async () => {
      await run({
        model: new ScriptedModel(["a long answer in pieces"]),
        onToken: () => undefined,
      });
      const { attributes } = spans.one("chat scripted");
      expect(attributes["gen_ai.request.stream"]).to.equal(true);
      expect(attributes["gen_ai.response.time_to_first_chunk"]).to.be.a("number").and.at.least(0);
    });

    it("for samplers are set when a span begins", async () => {
      const seen: Record<string, unknown>[] = [];
      const processor: SpanProcessor = {
        onStart: (span) => void seen.push({ name: span.name, ...span.attributes }),
        onEnd: () => undefined,
        forceFlush: () => Promise.resolve(),
        shutdown: () => Promise.resolve(),
      };
      const tracerProvider = new BasicTracerProvider({ spanProcessors: [processor] });
      await run({ model: new ScriptedModel(["ok"]) }, { tracerProvider });
      for (const span of seen) expect(span).to.have.property("gen_ai.operation.name");
      expect(seen.find(({ name }) => name === "chat scripted")).to.include({
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "scripted",
      });
      expect(seen.find(({ name }) => name === "invoke_agent Clerk")).to.include({
        "gen_ai.agent.name": "Clerk",
        "gen_ai.request.model": "scripted",
      });
    });
  });

  describe("failures", () => {
    const broken = (): ModelCallError =>
      new ModelCallError("no service", {
        provider: "p",
        modelId: "m",
        code: "AE_MODEL_SERVER",
        retryable: true,
      });

    it("mark the call, its task and its run, each with the code and an exception", async () => {
      await run({ model: new ScriptedModel([{ error: broken() }]) });
      for (const name of ["chat scripted", "invoke_agent Clerk", "invoke_workflow"]) {
        const { status, attributes, events } = spans.one(name);
        expect(status.code).to.equal(SpanStatusCode.ERROR);
        expect(attributes["error.type"]).to.equal("AE_MODEL_SERVER");
        expect(events.map((e) => e.name)).to.deep.equal(["exception"]);
      }
      expect(spans.one("invoke_workflow").attributes["agentensemble.exit_reason"]).to.equal(
        "ERROR",
      );
    });

    it("leave a span for every attempt", async () => {
      const model = new ScriptedModel([{ error: broken() }, "ok"]);
      const policy = definePlugin({
        name: "try twice",
        bind: (b) =>
          void b
            .single(Tokens.RetryPolicy, { override: true })
            .toConstantValue({ next: () => ({ delayMs: 1 }) }),
      });
      await run({ model }, {}, [policy]);
      const calls = spans.named("chat scripted");
      expect(
        calls.map((s) => [s.attributes["agentensemble.attempt"], s.status.code]),
      ).to.deep.equal([
        [1, SpanStatusCode.ERROR],
        [2, SpanStatusCode.UNSET],
      ]);
      expect(spans.one("invoke_agent Clerk").status.code).to.equal(SpanStatusCode.UNSET);
    });

    it("of tools are thrown errors, failed results, and calls that never reached a tool", async () => {
      const throwing = tool({
        name: "throwing",
        description: "Throws",
        execute: () => Promise.reject(new TypeError("boom")),
      });
      const failing = tool({
        name: "failing",
        description: "Fails",
        execute: () => ToolResult.failure("no"),
      });
      const model = new ScriptedModel([
        useTool("throwing"),
        useTool("failing"),
        useTool("missing"),
        "ok",
      ]);
      await run({ model, tasks: [oneTask({ tools: [throwing, failing] })] });
      const type = (name: string): unknown =>
        spans.one(`execute_tool ${name}`).attributes["error.type"];
      expect([type("throwing"), type("failing"), type("missing")]).to.deep.equal([
        "TypeError",
        "tool_error",
        "tool_error",
      ]);
      expect(spans.one("execute_tool missing").attributes["agentensemble.outcome"]).to.equal(
        "rejected",
      );
      expect(spans.one("execute_tool throwing").status.code).to.equal(SpanStatusCode.ERROR);
    });

    it("do not include an early exit and a cancellation", async () => {
      const model = new ScriptedModel(["one"]);
      const exit = definePlugin({
        name: "exit",
        apply: ({ hooks }) => {
          hooks.afterTask.tap({ name: "exit", lane: "review" }, () => {
            throw new ExitEarlySignal("enough");
          });
        },
      });
      await run({ model, tasks: [oneTask(), Task.of("Never")] }, {}, [exit]);
      expect(spans.one("invoke_workflow").status.code).to.equal(SpanStatusCode.UNSET);
      expect(spans.one("invoke_workflow").attributes["agentensemble.exit_reason"]).to.equal(
        "USER_EXIT_EARLY",
      );
      spans.exporter.reset();

      const abort = new AbortController();
      const waiting = new ScriptedModel(async () => {
        abort.abort();
        await pause(5);
        return "late";
      });
      await using ensemble = new Ensemble({
        model: waiting,
        tasks: [oneTask()],
        plugins: [otel({ tracerProvider: spans.tracerProvider })],
      });
      await ensemble.run({}, { signal: abort.signal }).catch(() => undefined);
      expect(spans.all.map(({ name }) => name)).to.have.members([
        "chat scripted",
        "invoke_agent Clerk",
        "invoke_workflow",
      ]);
      for (const { status } of spans.all) expect(status.code).to.equal(SpanStatusCode.UNSET);
      expect(spans.one("invoke_workflow").attributes["agentensemble.exit_reason"]).to.equal(
        "CANCELLED",
      );
      expect(spans.one("chat scripted").attributes["agentensemble.outcome"]).to.equal("aborted");
    });

    it("by a time limit are failures", async () => {
      const model = new ScriptedModel([{ text: "late", delayMs: 500 }]);
      await using ensemble = new Ensemble({
        model,
        tasks: [oneTask()],
        plugins: [otel({ tracerProvider: spans.tracerProvider })],
      });
      await ensemble.run({}, { timeoutMs: 20 }).catch(() => undefined);
      expect(spans.one("invoke_workflow").attributes["error.type"]).to.equal("AE_RUN_TIMEOUT");
    });
  });

  it("creates no client span for a call that was answered from a cache, or refused", async () => {
    const cached = definePlugin({
      name: "cache",
      apply: ({ hooks }) =>
        hooks.beforeLlmCall.tap({ name: "cache", lane: "answer" }, () =>
          answer({ message: { role: "assistant", content: "known" }, finishReason: "stop" }),
        ),
    });
    await run({ model: new ScriptedModel([]) }, {}, [cached]);
    const span = spans.one("chat scripted");
    expect(span.kind).to.equal(SpanKind.INTERNAL);
    expect(span.attributes["agentensemble.outcome"]).to.equal("answered");
    spans.exporter.reset();
    const refusing = definePlugin({
      name: "no",
      apply: ({ hooks }) => hooks.beforeLlmCall.tap({ name: "no" }, () => reject("no")),
    });
    await run({ model: new ScriptedModel([]) }, {}, [refusing]);
    expect(spans.named("chat scripted")).to.deep.equal([]);
    expect(spans.one("invoke_agent Clerk").events.map((e) => e.name)).to.include(
      "agentensemble.llm_call.not_made",
    );
  });

  it("reports memory: reads, writes, and failed writes", async () => {
    const stored: string[] = [];
    const writes = new Task({
      name: "writes",
      description: "Write",
      handler: () => "x",
    });
    const store = {
      store: (scope: string) =>
        scope === "bad"
          ? Promise.reject(new Error("disk full"))
          : Promise.resolve(void stored.push(scope)),
      retrieve: () => Promise.resolve([]),
      evict: () => Promise.resolve(),
      clear: () => Promise.resolve(),
    };
    const executor = definePlugin({
      name: "writer",
      bind: (b) =>
        void b.many(Tokens.TaskExecutor).toConstantValue({
          name: "writer",
          handles: () => true,
          async execute(_call, scope) {
            scope.emit({
              type: "memory_read",
              taskId: scope.taskId,
              agentRole: "x",
              kind: "scope",
              scope: "notes",
              entries: 2,
              durationMs: 0,
            });
            await scope.writeMemory("notes", { content: "c", storedAt: new Date(0) });
            await scope
              .writeMemory("bad", { content: "c", storedAt: new Date(0) })
              .catch(() => undefined);
            return { raw: "done", toolCallCount: 0 };
          },
        }),
    });
    await run({ tasks: [writes], memoryStore: store }, {}, [executor]); // as much of a store as is called
    expect(stored).to.deep.equal(["notes"]);
    const task = spans.one("run_task writes").spanContext().spanId;
    expect(spans.one("search_memory notes").attributes).to.include({
      "gen_ai.memory.store.id": "notes",
      "gen_ai.memory.record.count": 2,
    });
    expect(spans.one("search_memory notes").parentSpanContext?.spanId).to.equal(task);
    expect(spans.one("create_memory notes").parentSpanContext?.spanId).to.equal(task);
    expect(spans.one("create_memory bad").status.code).to.equal(SpanStatusCode.ERROR);
  });

  describe("content", () => {
    const secret = "sk-abcdefghijklmnopqrstuvwxyz";
    const spy = tool({ name: "spy", description: "Spies", execute: () => `found ${secret}` });
    const options = (): Partial<EnsembleOptions> => ({
      model: new ScriptedModel([useTool("spy", "tool input"), "the answer"]),
      tasks: [oneTask({ tools: [spy] })],
    });
    const everything = (): string =>
      JSON.stringify(
        spans.all.map(({ attributes, events, status }) => ({ attributes, events, status })),
      );

    it("is omitted unless it is requested", async () => {
      await run(options());
      for (const text of ["Secret description", "tool input", "found", "the answer", secret])
        expect(everything()).to.not.include(text);
    });

    it("is included on request, without keys, after the user's own rule", async () => {
      await run(options(), {
        captureContent: true,
        redact: (text) => text.replaceAll("description", "[cut]"),
      });
      const chats = spans.named("chat scripted");
      expect(JSON.parse(String(chats[1]?.attributes["gen_ai.output.messages"]))).to.deep.equal([
        {
          role: "assistant",
          parts: [{ type: "text", content: "the answer" }],
          finish_reason: "stop",
        },
      ]);
      expect(chats[1]?.attributes["gen_ai.input.messages"]).to.include("tool_call_response");
      expect(spans.one("execute_tool spy").attributes).to.include({
        "gen_ai.tool.call.arguments": '{"input":"tool input"}',
        "gen_ai.tool.call.result": "found [redacted]",
      });
      expect(spans.one("invoke_agent Clerk").attributes["agentensemble.task.description"]).to.equal(
        "Secret [cut]",
      );
      expect(everything()).to.not.include(secret).and.not.include("Secret description");
    });

    it("shows results as other plugins changed them", async () => {
      const masking = definePlugin({
        name: "mask",
        apply: ({ hooks }) => {
          hooks.afterLlmCall.tap({ name: "mask" }, (call) =>
            call.outcome === "ok"
              ? replace({
                  response: {
                    ...call.response,
                    message: { role: "assistant" as const, content: "masked" },
                  },
                })
              : undefined,
          );
        },
      });
      await run({ model: new ScriptedModel(["raw words"]) }, { captureContent: true }, [masking]);
      expect(everything()).to.include("masked").and.not.include("raw words");
    });

    it("is omitted if the redact function throws, and the run warns once", async () => {
      const warnings: string[] = [];
      const throwing = (): string => {
        throw new Error("redact is broken");
      };
      await run(
        { ...options(), on: (e) => e.type === "run_warning" && warnings.push(e.message) },
        { captureContent: true, redact: throwing },
      );
      expect(everything()).to.not.include("the answer").and.not.include("Secret description");
      expect(warnings.filter((w) => w.includes("redact is broken"))).to.have.length(1);
    });

    it("of errors is also redacted", async () => {
      await run(
        { model: new ScriptedModel([{ error: new Error(`bad key ${secret}`) }]) },
        { redact: (text) => text.replaceAll("bad", "worse") },
      );
      expect(everything()).to.include("worse key [redacted]").and.not.include(secret);
    });
  });

  it("protects a run from a failing or hanging exporter", async () => {
    const throwing: SpanProcessor = {
      onStart: () => undefined,
      onEnd: () => {
        throw new Error("exporter is broken");
      },
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    };
    const hanging = new SimpleSpanProcessor({
      export: () => undefined,
      shutdown: () => new Promise<void>(() => undefined),
    });
    const warnings: string[] = [];
    for (const processor of [throwing, hanging]) {
      const tracerProvider = new BasicTracerProvider({ spanProcessors: [processor] });
      const output = await run(
        {
          model: new ScriptedModel([useTool("x"), "fine"]),
          on: (e) => e.type === "run_warning" && warnings.push(e.message),
        },
        { tracerProvider },
      );
      expect((output as { readonly raw: string }).raw).to.equal("fine");
    }
    expect(warnings.filter((w) => w.includes("exporter is broken"))).to.have.length(1);
  });

  describe("propagation", () => {
    before(
      () => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()),
    );
    after(() => context.disable());

    it("places a run below the span that is active at its start", async () => {
      const tracer = spans.tracerProvider.getTracer("caller");
      await tracer.startActiveSpan("request", async (span) => {
        await run({ model: new ScriptedModel(["ok"]) });
        span.end();
      });
      expect(spans.tree().slice(0, 2)).to.deep.equal(["request", "  invoke_workflow"]);
    });

    it("runs tools and handlers within their own span, which they can pass on", async () => {
      const plugin = otel({ tracerProvider: spans.tracerProvider });
      const headers: (string | undefined)[] = [];
      const tracer = spans.tracerProvider.getTracer("user");
      const fetching = tool({
        name: "fetching",
        description: "Fetches",
        execute: (_input, ctx) => {
          headers.push(plugin.traceparent(ctx));
          return plugin.within(ctx, () => {
            tracer.startSpan("http get").end();
            return "ok";
          });
        },
      });
      const handled = new Task({
        name: "handled",
        description: "H",
        handler: (ctx) =>
          plugin.within(ctx, () => String(trace.getActiveSpan()?.spanContext().spanId)),
      });
      const model = new ScriptedModel([useTool("fetching"), "done"]);
      await using ensemble = new Ensemble({
        model,
        tasks: [oneTask({ tools: [fetching] }), handled],
        plugins: [plugin],
      });
      const output = await ensemble.run();
      const toolSpan = spans.one("execute_tool fetching").spanContext();
      expect(spans.one("http get").parentSpanContext?.spanId).to.equal(toolSpan.spanId);
      expect(headers).to.deep.equal([`00-${toolSpan.traceId}-${toolSpan.spanId}-01`]);
      expect(output.raw).to.equal(spans.one("run_task handled").spanContext().spanId);
      expect(plugin.traceparent({ runId: output.runId })).to.equal(undefined); // it is over
      expect(plugin.within({ runId: "unknown" }, () => 5)).to.equal(5);
    });

    it("serves several kernels with one plugin, even if their runs have the same id", async () => {
      const plugin = otel({ tracerProvider: spans.tracerProvider });
      const headers: Record<string, string | undefined> = {};
      const kernelOf = (tag: string, meanwhile: () => Promise<unknown>): Ensemble =>
        new Ensemble({
          plugins: [plugin],
          tasks: [
            new Task({
              name: tag,
              description: tag,
              handler: async (ctx) => {
                await meanwhile();
                headers[tag] = plugin.traceparent(ctx);
                return "ok";
              },
            }),
          ],
        });
      const inner = kernelOf("inner", () => Promise.resolve());
      const outer = kernelOf("outer", async () => {
        await inner.run({}, { runId: "inner" });
        await inner.dispose();
      });
      await outer.run({}, { runId: "outer" });
      const idOf = (name: string): string => {
        const { traceId, spanId } = spans.one(name).spanContext();
        return `00-${traceId}-${spanId}-01`;
      };
      expect(headers).to.deep.equal({
        inner: idOf("run_task inner"),
        outer: idOf("run_task outer"),
      });
      spans.exporter.reset();
      const twin = kernelOf("twin", () => Promise.resolve());
      const first = kernelOf("first", () => twin.run({}, { runId: "same" }));
      await first.run({}, { runId: "same" });
      expect([...spans.tree()].sort()).to.deep.equal([
        "  run_task first",
        "  run_task twin",
        "invoke_workflow",
        "invoke_workflow",
      ]);
      await Promise.all([outer.dispose(), first.dispose(), twin.dispose()]);
    });

    it("places a run of another kernel below the task that it joins", async () => {
      const plugin = otel({ tracerProvider: spans.tracerProvider });
      const inner = new Ensemble({
        plugins: [plugin],
        tasks: [new Task({ name: "inner", description: "I", handler: () => "ok" })],
      });
      await using outer = new Ensemble({
        plugins: [plugin],
        tasks: [
          new Task({
            name: "outer",
            description: "O",
            handler: async (ctx) => (await inner.run({}, { parent: ctx })).raw,
          }),
        ],
      });
      await outer.run();
      await inner.dispose();
      expect(spans.tree()).to.deep.equal([
        "invoke_workflow",
        "  run_task outer",
        "    invoke_workflow",
        "      run_task inner",
      ]);
    });

    it("sends the trace to a remote ensemble, whose run joins it", async () => {
      const service = new Kernel({ plugins: [otel({ tracerProvider: spans.tracerProvider })] });
      await using served = new Ensemble({
        kernel: service,
        model: new ScriptedModel(["served"]),
        tasks: [oneTask()],
      });
      await service.boot();
      const serve = async (wire: string): Promise<string> =>
        service.container
          .get(Tokens.TracePropagation)
          .within(JSON.parse(wire) as TraceContext, async () => (await served.run()).raw);
      const calling = new Task({
        name: "calling",
        description: "Call",
        handler: (ctx) =>
          serve(JSON.stringify(ctx.run.get(Tokens.TracePropagation).inject(ctx) ?? {})),
      });
      await run({ tasks: [calling] });
      const outer = spans.one("run_task calling").spanContext();
      const inner = spans
        .named("invoke_workflow")
        .find(({ parentSpanContext }) => parentSpanContext?.spanId === outer.spanId);
      expect(inner?.spanContext().traceId).to.equal(outer.traceId);
      await service.dispose();
    });

    it("refuses an invalid context, and preserves the state of other systems", async () => {
      await using kernel = new Kernel({
        plugins: [otel({ tracerProvider: spans.tracerProvider })],
      });
      await kernel.boot();
      const propagation = kernel.container.get(Tokens.TracePropagation);
      const id = "0af7651916cd43dd8448eb211c80319c";
      const active = (traceparent: string, tracestate?: string): unknown =>
        propagation.within({ traceparent, tracestate }, () => {
          const span = trace.getActiveSpan()?.spanContext();
          return span && [span.traceId, span.traceState?.get("vendor")];
        });
      expect(active(`00-${id}-b7ad6b7169203331-01`, "vendor=x")).to.deep.equal([id, "x"]);
      expect(active(`00-${id}-b7ad6b7169203331-01`, ["vendor=x"] as never)).to.deep.equal([
        id,
        undefined,
      ]);
      for (const unsound of [
        ...["", "00-xyz", `00-${"0".repeat(32)}-b7ad6b7169203331-01`],
        ...[`ff-${id}-b7ad6b7169203331-01`, [`00-${id}-b7ad6b7169203331-01`] as never],
      ])
        expect(active(unsound)).to.equal(undefined);
      expect(propagation.within(undefined, () => 5)).to.equal(5);
      expect(propagation.inject({ run: { id: "unknown" } })).to.equal(undefined);
    });
  });

  describe("metrics", () => {
    async function recorded(
      version: OtelOptions["semconvVersion"],
    ): Promise<ReadonlyMap<string, readonly unknown[]>> {
      const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
      const reader = new PeriodicExportingMetricReader({
        exporter,
        exportIntervalMillis: 1_000_000,
      });
      const meterProvider = new MeterProvider({ readers: [reader] });
      const model = new ScriptedModel([
        useTool("echo"),
        { text: "ok", usage: { inputTokens: 7, outputTokens: 3 } },
      ]);
      const echo = tool({ name: "echo", description: "Echo", execute: (input) => input });
      await run(
        { model, tasks: [oneTask({ tools: [echo] })] },
        { meterProvider, semconvVersion: version },
      );
      await meterProvider.forceFlush();
      const found = exporter.getMetrics().flatMap((r) => r.scopeMetrics.flatMap((s) => s.metrics));
      await meterProvider.shutdown();
      return new Map(found.map((m) => [m.descriptor.name, m.dataPoints]));
    }

    it("have the names of the conventions", async () => {
      const found = await recorded(undefined);
      expect([...found.keys()]).to.have.members([
        "gen_ai.client.operation.duration",
        "gen_ai.client.token.usage",
        "gen_ai.workflow.duration",
        "gen_ai.invoke_agent.duration",
        "gen_ai.execute_tool.duration",
      ]);
      expect(found.get("gen_ai.client.operation.duration")?.[0]).to.have.nested.property(
        "value.count",
        2,
      );
      expect(JSON.stringify(found.get("gen_ai.client.token.usage"))).to.include(
        '"gen_ai.token.type":"input"',
      );
    });

    it("have the names of the requested version", async () => {
      const found = await recorded("latest");
      expect([...found.keys()]).to.include.members([
        "gen_ai.client.inference.duration",
        "gen_ai.client.inference.usage.input_tokens",
        "gen_ai.client.inference.usage.output_tokens",
      ]);
      await recorded("1.36");
      expect(spans.named("chat scripted").at(-1)?.attributes).to.have.property(
        "gen_ai.system",
        "scripted",
      );
    });

    it("use OpenTelemetry's variable if no version is given", async () => {
      setEnvironment({ OTEL_SEMCONV_STABILITY_OPT_IN: "http, gen_ai_latest_experimental" });
      expect([...(await recorded(undefined)).keys()]).to.include(
        "gen_ai.client.inference.duration",
      );
      expect([...(await recorded("1.37")).keys()]).to.include("gen_ai.client.operation.duration");
    });
  });

  it("uses globally registered providers, and a custom tracer", async () => {
    trace.setGlobalTracerProvider(spans.tracerProvider);
    try {
      await using ensemble = new Ensemble({
        model: new ScriptedModel(["ok"]),
        tasks: [oneTask()],
        plugins: [otel()],
      });
      await ensemble.run();
      expect(spans.named("invoke_workflow")).to.have.length(1);
    } finally {
      trace.disable();
      metrics.disable();
    }
    spans.exporter.reset();
    await using own = new Ensemble({
      model: new ScriptedModel(["ok"]),
      tasks: [oneTask()],
      plugins: [otel({ tracer: spans.tracerProvider.getTracer("mine") })],
    });
    await own.run();
    expect(spans.one("invoke_workflow").instrumentationScope.name).to.equal("mine");
  });

  it("refuses invalid options", () => {
    const wrong: readonly [OtelOptions, string][] = [
      [{ captureContents: true } as never, "Did you mean 'captureContent'"],
      [{ tracer: {} as never }, "startSpan"],
      [{ tracerProvider: 1 as never }, "getTracer"],
      [{ meterProvider: {} as never }, "getMeter"],
      [
        {
          tracer: { startSpan: () => ({}) },
          tracerProvider: { getTracer: () => ({ startSpan: () => ({}) }) },
        },
        "not both",
      ],
      [{ semconvVersion: "2" as never }, "semconvVersion"],
      [{ workflowName: " " }, "workflowName"],
      [{ workflowName: 5 as never }, "workflowName"],
      [{ captureContent: 1 as never }, "captureContent"],
      [{ redact: "x" as never }, "redact"],
    ];
    for (const [options, text] of wrong)
      expect(() => otel(options)).to.throw(ValidationError, text);
  });
});
