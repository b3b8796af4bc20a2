import { SpanKind } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect } from "chai";
import { join } from "node:path";
import { Ensemble, ModelCallError, Task } from "../../../../src/index.js";
import type { Plugin } from "../../../../src/index.js";
import { otel } from "../../../../src/plugins/observability/otel/index.js";
import { prometheus } from "../../../../src/plugins/observability/prometheus/index.js";
import { recordTo, replayFrom } from "../../../../src/replay.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { RecordedSpans } from "./span-tree.js";

describe("a replayed model call", () => {
  let file = "";
  beforeEach(() => (file = join(temporaryFolder(), "run.jsonl")));

  async function run(model: ScriptedModel, plugins: readonly Plugin[]): Promise<void> {
    await using team = new Ensemble({ model, tasks: [Task.of("Work")], plugins });
    await team.run({}, { throwOnError: false });
  }

  it("has an internal span with the outcome answered, and no metrics", async () => {
    const usage = { inputTokens: 7, outputTokens: 3 };
    await run(new ScriptedModel([{ text: "ok", usage }]), [recordTo(file)]);
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
    const meterProvider = new MeterProvider({ readers: [reader] });
    const spans = new RecordedSpans();
    const { tracerProvider } = spans;
    const measured = prometheus();
    await run(new ScriptedModel([]), [
      otel({ tracerProvider, meterProvider }),
      measured,
      replayFrom(file),
    ]);
    const { kind, attributes } = spans.one("chat scripted");
    expect(kind).to.equal(SpanKind.INTERNAL);
    expect(attributes["agentensemble.outcome"]).to.equal("answered");
    expect(attributes["gen_ai.usage.input_tokens"]).to.equal(7);
    await meterProvider.forceFlush();
    const names = exporter
      .getMetrics()
      .flatMap((r) => r.scopeMetrics.flatMap((s) => s.metrics.map((m) => m.descriptor.name)));
    await meterProvider.shutdown();
    expect(names).to.have.members(["gen_ai.workflow.duration", "gen_ai.invoke_agent.duration"]);
    expect(await measured.metrics()).to.not.match(/llm_call_duration_seconds_count|tokens_total\{/);
  });

  it("that failed has the recorded error, and no metrics", async () => {
    const error = new ModelCallError("no service", {
      ...{ provider: "p", modelId: "m" },
      ...{ code: "AE_MODEL_SERVER" as const, retryable: true },
    });
    await run(new ScriptedModel([{ error }]), [recordTo(file)]);
    const spans = new RecordedSpans();
    const measured = prometheus();
    await run(new ScriptedModel([]), [
      otel({ tracerProvider: spans.tracerProvider }),
      measured,
      replayFrom(file),
    ]);
    const { kind, attributes } = spans.one("chat scripted");
    expect(kind).to.equal(SpanKind.INTERNAL);
    expect(attributes["agentensemble.outcome"]).to.equal("failed");
    expect(attributes["error.type"]).to.equal("AE_MODEL_SERVER");
    expect(await measured.metrics()).to.not.include("llm_call_duration_seconds_count");
  });
});
