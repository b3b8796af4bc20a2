// Spans of a run in OpenTelemetry: tasks, model calls, tools and a delegation, each below its
// parent. Here they are stored in memory and printed. An application passes its own exporter.
// Run it: npm run example -- 32
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { otel } from "agentensemble/observability/otel";
import { realOrScripted } from "./support/scripted.js";

// The set-up of the application: the exporter of spans, and the manager of the active span.
const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(exporter)],
});
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

const telemetry = otel({ tracerProvider, workflowName: "garden letters" });

const lookUp = tool({
  name: "look_up",
  description: "Looks up what the archive has on a plant",
  execute: (plant, ctx) =>
    // Spans that begin here are children of this tool call, including those of an instrumented HTTP
    // client.
    telemetry.within(ctx, () => {
      const span = tracerProvider.getTracer("archive").startSpan("read archive");
      span.end();
      console.log(
        `A service would be sent: traceparent ${telemetry.traceparent(ctx)?.replace(/[0-9a-f]{8,}/g, "...")}`,
      );
      return `${plant}: bears shade`;
    }),
});

const { model, name, note } = realOrScripted(({ messages }) => {
  const answers = messages.filter((message) => message.role === "tool").length;
  if (/You are Gardener/.test(JSON.stringify(messages)))
    return answers === 0
      ? { toolCalls: [{ name: "look_up", arguments: { input: "hornbeam" } }] }
      : "Hornbeam: it bears shade.";
  const ask = {
    name: "delegate",
    arguments: { agentRole: "Gardener", taskDescription: "Which hedge bears shade?" },
  };
  return answers === 0 ? { toolCalls: [ask] } : "Plant a hornbeam hedge.";
});
console.log(`Model: ${name} (${note})\n`);

const office = new Ensemble({
  model,
  agents: [new Agent({ role: "Gardener", goal: "Say what plants need", tools: [lookUp] })],
  tasks: [
    new Task({
      description: "Answer the letter",
      agent: new Agent({ role: "Secretary", goal: "Answer letters", allowDelegation: true }),
    }),
  ],
  plugins: [telemetry],
});
await office.run();
await office.dispose();

const spans = exporter.getFinishedSpans();
const print = (parent: string | undefined, indent: string): void => {
  for (const span of spans
    .filter((s) => s.parentSpanContext?.spanId === parent)
    .sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])) {
    const tokens = span.attributes["gen_ai.usage.output_tokens"];
    console.log(
      `${indent}${span.name}${tokens === undefined ? "" : ` (${String(tokens)} tokens out)`}`,
    );
    print(span.spanContext().spanId, `${indent}  `);
  }
};
console.log();
print(undefined, "");
context.disable();
