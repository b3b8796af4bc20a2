import { expect } from "chai";
import {
  Ensemble,
  RunCancelledError,
  Task,
  TaskExecutionError,
  definePlugin,
} from "../../../../src/index.js";
import type { EnsembleOutput, TaskContext } from "../../../../src/index.js";
import { testKernel } from "../../../../src/testing.js";
import { otel } from "../../../../src/plugins/observability/otel/index.js";
import { RecordedSpans } from "./span-tree.js";

const task = (name: string, handler: (ctx: TaskContext) => string | Promise<string>): Task =>
  new Task({ name, description: name, handler });

describe("the id of a run's trace", () => {
  let spans: RecordedSpans;
  beforeEach(() => (spans = new RecordedSpans()));
  const ofRun = (runId: string): string | undefined =>
    spans.all.find((span) => span.attributes["agentensemble.run.id"] === runId)?.spanContext()
      .traceId;

  it("equals that of its spans, for each of several concurrent runs, and is included in the JSON", async () => {
    const handler = (ctx: TaskContext): Promise<string> =>
      new Promise((resolve) => setTimeout(() => resolve(ctx.run.id), 2));
    await using ensemble = new Ensemble({
      tasks: [task("a", handler)],
      plugins: [otel({ tracerProvider: spans.tracerProvider })],
    });
    const outputs = await Promise.all(
      ["r1", "r2", "r3"].map((runId) => ensemble.run({}, { runId })),
    );
    const ids = outputs.map(({ trace }) => trace.traceId);
    expect(ids).to.deep.equal(["r1", "r2", "r3"].map(ofRun));
    expect(new Set(ids).size).to.equal(3);
    expect(
      outputs.map(({ trace }) => (JSON.parse(trace.toJson()) as { traceId: unknown }).traceId),
    ).to.deep.equal(ids);
  });

  it("is set for runs that fail or are cancelled, and before exporters receive the trace", async () => {
    const seen: (string | undefined)[] = [];
    const signal = AbortSignal.abort();
    const options = {
      plugins: [otel({ tracerProvider: spans.tracerProvider })],
      traceExporter: (trace: { traceId?: string | undefined }) => void seen.push(trace.traceId),
    };
    await using ensemble = new Ensemble({
      ...options,
      tasks: [
        task("a", () => {
          throw new Error("no");
        }),
      ],
    });
    const failed: unknown = await ensemble
      .run({}, { runId: "failed" })
      .catch((error: unknown) => error);
    const cancelled: unknown = await ensemble
      .run({}, { runId: "cancelled", signal })
      .catch((error: unknown) => error);
    expect(TaskExecutionError.isInstance(failed) && failed.output?.trace.traceId).to.equal(
      ofRun("failed"),
    );
    expect(RunCancelledError.isInstance(cancelled) && cancelled.output?.trace.traceId).to.equal(
      ofRun("cancelled"),
    );
    expect(seen).to.deep.equal([ofRun("failed"), ofRun("cancelled")]);
  });

  it("equals the outer id for a run that joined another", async () => {
    const kernel = testKernel([otel({ tracerProvider: spans.tracerProvider })]);
    const inner = new Ensemble({ tasks: [task("inner", () => "x")], kernel });
    let joined: EnsembleOutput | undefined;
    const outer = new Ensemble({
      tasks: [
        task("outer", async (ctx) => (joined = await inner.run({}, { parent: ctx.run })).raw),
      ],
      kernel,
    });
    const { trace } = await outer.run();
    await kernel.dispose();
    expect(trace.traceId).to.match(/^[0-9a-f]{32}$/);
    expect(joined?.trace.traceId).to.equal(trace.traceId);
  });

  it("is missing without a tracing system, and if OpenTelemetry has no SDK", async () => {
    for (const plugins of [[], [otel()]]) {
      await using ensemble = new Ensemble({ tasks: [task("a", () => "x")], plugins });
      const { trace } = await ensemble.run();
      expect(trace.traceId).to.equal(undefined);
      expect(JSON.parse(trace.toJson())).to.have.property("traceId", null);
    }
  });

  it("can be set by any plugin; the first one is kept", async () => {
    const tracing = (name: string): ReturnType<typeof definePlugin> =>
      definePlugin({
        name,
        apply: ({ hooks }) => hooks.beforeRun.tap(({ run }) => run.setTraceId(`id of ${name}`)),
      });
    await using ensemble = new Ensemble({
      tasks: [task("a", () => "x")],
      plugins: [tracing("first"), tracing("second")],
    });
    expect((await ensemble.run()).trace.traceId).to.equal("id of first");
  });
});
