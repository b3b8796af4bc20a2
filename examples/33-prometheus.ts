// Metrics for Prometheus. One of three runs has a tool that fails, and one is cancelled. The
// program prints the answer of an endpoint on this machine.
// Run it: npm run example -- 33
import { Agent, Ensemble, Task, tool } from "agentensemble";
import { prometheus } from "agentensemble/observability/prometheus";
import { ScriptedModel } from "agentensemble/testing";

// An application names its port, for example 9464.
const metrics = prometheus({ listen: { port: 0 } });

const weigh = tool({
  name: "weigh",
  description: "Weighs a parcel",
  execute: (parcel) => {
    if (parcel === "piano") throw new Error("the scales end at 30 kg");
    return "2.5 kg";
  },
});

// The answers are fixed, so that the numbers are always the same.
const usage = { inputTokens: 120, outputTokens: 30 };
const model = new ScriptedModel(({ messages }) => {
  const parcel = JSON.stringify(messages).includes("piano") ? "piano" : "book";
  const weighed = messages.some((message) => message.role === "tool");
  return weighed
    ? { text: `The ${parcel} has been seen to.`, usage }
    : { toolCalls: [{ name: "weigh", arguments: { input: parcel } }], usage };
});

const desk = new Ensemble({
  model,
  tasks: [
    new Task({
      name: "parcel",
      description: "Weigh the {parcel}",
      agent: new Agent({ role: "Clerk", goal: "Weigh parcels", tools: [weigh] }),
    }),
    new Task({
      name: "stamp",
      description: "Print the stamp",
      handler: (ctx) => `Stamp for the ${String(ctx.inputs["parcel"])}`,
    }),
  ],
  costConfiguration: { inputTokenRate: 0.000_001, outputTokenRate: 0.000_004 },
  plugins: [metrics],
});

await desk.run({ parcel: "book" });
await desk.run({ parcel: "piano" }); // the model receives the error, and continues
await desk.run({ parcel: "book" }, { signal: AbortSignal.abort(), throwOnError: false });

const response = await fetch(metrics.url ?? "");
console.log(`GET /metrics: ${response.status}, ${response.headers.get("content-type")}\n`);
const lines = (await response.text())
  .split("\n")
  .filter(
    (line) =>
      line !== "" && !line.startsWith("#") && !line.includes("_bucket") && !line.includes("_sum"),
  );
console.log(lines.join("\n"));

await desk.dispose(); // also closes the endpoint
console.log(`\nServed at: ${metrics.url ?? "nowhere any more"}`);
