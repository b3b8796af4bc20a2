// Exporters receive the trace of every run, with every outcome. A custom exporter writes one line
// per run, and the built-in exporter writes files.
// Run it: npm run example -- 35
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ensemble, Task, type ExecutionTrace, type TraceExporter } from "agentensemble";
import { jsonTraceExporter } from "agentensemble/observability";
import { realOrScripted } from "./support/scripted.js";

const folder = await mkdtemp(join(tmpdir(), "traces-"));
const { model, name, note } = realOrScripted(() => "Berlin, Hamburg, Munich");
console.log(`Model: ${name} (${note})\n`);

// An exporter is a function or an object with `export`. It may send `trace.toJson()` to a server,
// because known secrets are removed.
const lines: string[] = [];
const oneLinePerRun: TraceExporter = {
  export({ ensembleId, exitReason, taskTraces, errors, metrics }: ExecutionTrace): void {
    const slowest = [...taskTraces].sort((a, b) => b.durationMs - a.durationMs)[0];
    lines.push(
      `${ensembleId}: ${exitReason}, ${metrics.llmCallCount} model calls, slowest task ${slowest?.taskId}${errors[0] === undefined ? "" : `, ${errors[0].message}`}`,
    );
  },
};
const broken: TraceExporter = () => Promise.reject(new Error("the server is away"));

const cities = new Task({
  name: "cities",
  description: "Name the three largest cities of {country}",
});
const check = new Task({
  name: "check",
  description: "Check the list",
  context: [cities],
  handler: (ctx) => {
    if (ctx.inputs["country"] !== "Germany") throw new Error("no list to compare with");
    return ctx.getOutput(cities).raw.split(",").length;
  },
});

// With `dag`, a diagram of the plan is written next to the trace. Both files have the same ids.
await using geography: Ensemble = new Ensemble({
  model,
  tasks: [cities, check],
  on: (e) => e.type === "run_warning" && console.log(`Warning: ${e.message}`),
  traceExporter: [
    oneLinePerRun,
    broken,
    jsonTraceExporter({ dir: folder, dag: () => geography.toDag() }),
  ],
});

const good = await geography.run({ country: "Germany" }, { runId: "good" });
await geography.run({ country: "Atlantis" }, { runId: "bad", throwOnError: false });
for (const line of lines) console.log(line);

// A failure of an exporter causes a warning and has no other effect.
console.log(
  `\nComplete: ${good.isComplete}; in its trace: ${String(good.trace.metadata["warnings"])}`,
);
console.log(`Files: ${(await readdir(folder)).sort().join(", ")}`);
const file = JSON.parse(await readFile(join(folder, "bad.trace.json"), "utf8")) as {
  readonly totalDuration: string;
  readonly errors: readonly { readonly taskId: string }[];
};
console.log(`In bad.trace.json the first error is that of task ${file.errors[0]?.taskId}`);
await rm(folder, { recursive: true });
