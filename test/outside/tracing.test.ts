// Spans and metrics of the built-in OpenTelemetry plugin and of the plugin of another package, for
// the same runs.
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import type { Plugin } from "agentensemble";
import { Agent, definePlugin, Ensemble, GuardrailResult, Task, tool, Tokens } from "agentensemble";
import { otel } from "agentensemble/observability/otel";
import { ScriptedModel, testKernel } from "agentensemble/testing";
import { expect } from "chai";
import { tracing, type Place } from "./tracing.js";

/** The records of a plugin. */
interface Recorded {
  /** Names of spans from the run down, sorted. */
  readonly paths: readonly string[];
  readonly traceIds: readonly string[];
  readonly headers: ReadonlyMap<string, string>;
  /** By metric: the number of values, and the sum of time-independent values. */
  readonly metrics: Readonly<Record<string, string>>;
  /** All names and attributes of the spans. */
  readonly text: string;
}

interface Recorder {
  readonly plugin: Plugin & { traceparent(place: Place): string | undefined };
  recorded(): Promise<Recorded>;
}

const TOKENS = "gen_ai.client.token.usage";
const header = (traceId: string, spanId: string): string => `00-${traceId}-${spanId}-01`;
const metric = (name: string, count: number, sum: number): readonly [string, string] => [
  name,
  name === TOKENS ? `${count} values, ${sum} together` : `${count} values`,
];

function builtIn(): Recorder {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: metrics,
    exportIntervalMillis: 1_000_000,
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  return {
    plugin: otel({ tracerProvider, meterProvider, captureContent: true }),
    async recorded() {
      await meterProvider.forceFlush();
      const scopes = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
      const found = scopes.flatMap((scope) => scope.metrics);
      await meterProvider.shutdown();
      const spans = exporter.getFinishedSpans();
      const pathOf = (id: string | undefined): string => {
        const span = spans.find((other) => other.spanContext().spanId === id);
        return span === undefined ? "" : `${pathOf(span.parentSpanContext?.spanId)}/${span.name}`;
      };
      const sumOf = (pick: (value: { count: number; sum: number }) => number, i: number): number =>
        (found[i]?.dataPoints ?? []).reduce((sum, { value }) => sum + pick(value as never), 0);
      return {
        paths: spans.map((span) => pathOf(span.spanContext().spanId)).sort(),
        traceIds: spans.map((span) => span.spanContext().traceId),
        headers: new Map(
          spans.map((span) => {
            const { traceId, spanId } = span.spanContext();
            return [header(traceId, spanId), span.name];
          }),
        ),
        metrics: Object.fromEntries(
          found.map(({ descriptor: { name } }, i) =>
            metric(
              name,
              sumOf(({ count }) => count, i),
              sumOf(({ sum }) => sum, i),
            ),
          ),
        ),
        text: JSON.stringify(spans.map(({ attributes }) => attributes)),
      };
    },
  };
}

function outside(): Recorder {
  const plugin = tracing();
  return {
    plugin,
    recorded() {
      const { spans, metrics } = plugin;
      const pathOf = (span: (typeof spans)[number] | undefined): string =>
        span === undefined ? "" : `${pathOf(span.parent)}/${span.name}`;
      return Promise.resolve({
        paths: spans.map(pathOf).sort(),
        traceIds: spans.map(({ traceId }) => traceId),
        headers: new Map(spans.map(({ traceId, spanId, name }) => [header(traceId, spanId), name])),
        metrics: Object.fromEntries(
          [...metrics].map(([name, values]) =>
            metric(
              name,
              values.length,
              values.reduce((sum, value) => sum + value, 0),
            ),
          ),
        ),
        text: spans.map(({ text }) => text).join(),
      });
    },
  };
}

const filter = definePlugin({
  name: "filter",
  bind: (bind) =>
    void bind
      .many(Tokens.SecretFilter)
      .toConstantValue((text) => text.replaceAll("sesame", "[hidden]")),
});

/** A run with a tool whose own run joins it, a repeated task, and a failed task with `fails`. */
async function traced({ plugin, recorded }: Recorder, fails: boolean) {
  const headers: (string | undefined)[] = [];
  const noted = (place: Place): void => void headers.push(plugin.traceparent(place));
  const kernel = testKernel([plugin, filter]);
  const inner = new Ensemble({
    tasks: [new Task({ name: "inside", description: "i", handler: () => "x" })],
    kernel,
  });
  const open = tool({
    name: "open",
    description: "Opens",
    execute: async (_input, ctx) => {
      noted(ctx);
      return (await inner.run({}, { parent: ctx.scope.run })).raw;
    },
  });
  const model = new ScriptedModel([
    {
      toolCalls: [{ name: "open", arguments: { input: "sesame" } }],
      usage: { inputTokens: 9, outputTokens: 4 },
    },
    { text: "done", usage: { inputTokens: 20, outputTokens: 2 } },
  ]);
  let tries = 0;
  const agent = new Agent({ role: "Porter", goal: "Open", tools: [open] });
  const ensemble = new Ensemble({
    model,
    tasks: [
      new Task({ name: "door", description: "Say sesame", agent }),
      new Task({
        name: "twice",
        description: "Count",
        handler: (ctx) => {
          noted(ctx);
          return ++tries;
        },
        guardrailRetries: fails ? 0 : 1,
        outputGuardrails: [({ parsed }) => (parsed === 2 ? true : GuardrailResult.failure("no"))],
      }),
    ],
    kernel,
  });
  const { trace, runId } = await ensemble.run({}, { throwOnError: false });
  const late = plugin.traceparent({ runId, taskId: "door" });
  await kernel.dispose();
  const { headers: known, traceIds, ...others } = await recorded();
  return {
    ...others,
    headers: headers.map((value) => known.get(value ?? "")),
    late,
    traceIds: new Set(traceIds.map((id) => id === trace.traceId)),
  };
}

describe("tracing of another package", () => {
  for (const fails of [false, true])
    it(`creates the spans and metrics of the built-in plugin for a run that ${fails ? "fails" : "completes"}`, async () => {
      const { text: ours, ...expected } = await traced(builtIn(), fails);
      const { text: theirs, ...found } = await traced(outside(), fails);
      expect(found).to.deep.equal(expected);
      for (const text of [ours, theirs])
        expect(text).to.include("[hidden]").and.not.include("sesame");
      const door = "/invoke_workflow/invoke_agent Porter";
      expect(found).to.deep.equal({
        paths: [
          "/invoke_workflow",
          door,
          `${door}/chat scripted`,
          `${door}/chat scripted`,
          `${door}/execute_tool open`,
          `${door}/execute_tool open/invoke_workflow`,
          `${door}/execute_tool open/invoke_workflow/run_task inside`,
          "/invoke_workflow/run_task twice",
        ],
        headers: ["execute_tool open", "run_task twice", ...(fails ? [] : ["run_task twice"])],
        late: undefined,
        traceIds: new Set([true]),
        metrics: {
          "gen_ai.client.operation.duration": "2 values",
          [TOKENS]: "4 values, 35 together",
          "gen_ai.execute_tool.duration": "1 values",
          "gen_ai.invoke_agent.duration": "1 values",
          "gen_ai.workflow.duration": "2 values",
        },
      });
    });
});
