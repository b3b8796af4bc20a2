import { expect } from "chai";
import fc from "fast-check";
import { mkdir, readdir, readFile, stat, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Agent } from "../../../../src/contracts/agent.js";
import { ValidationError } from "../../../../src/contracts/errors.js";
import { Graph } from "../../../../src/contracts/graph.js";
import { Loop } from "../../../../src/contracts/loop.js";
import { Task } from "../../../../src/contracts/task.js";
import type { ExecutionTrace } from "../../../../src/contracts/trace.js";
import { Ensemble } from "../../../../src/ensemble/ensemble.js";
import type { RunDag } from "../../../../src/contracts/dag.js";
import { dagOfRun } from "../../../../src/plugins/observability/shared/run-dag.js";
import { traceFileName } from "../../../../src/plugins/observability/shared/trace-files.js";
import { ScriptedModel } from "../../../../src/testing.js";
import { jsonTraceExporter } from "../../../../src/observability.js";
import { recordedTraceBuilder } from "../../../../src/plugins/observability/trace/recorded-trace.js";
import { rejectionOf } from "../../../support/rejection.js";
import { runRecord } from "./run-record.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";

const KEY = "sk-live-3f9a7c51e2d84b60";

function traceOf(id: string): ExecutionTrace {
  return recordedTraceBuilder.build(
    runRecord({ run: { id, inputs: {}, find: () => undefined, tags: {} } }),
  );
}

/** The path at which the exporter writes the trace of a run. */
async function pathOf(id: string): Promise<string> {
  let path = "";
  const trace = Object.create(traceOf("x"), {
    ensembleId: { value: id },
    save: { value: async (p: string) => void (path = p) },
  }) as ExecutionTrace;
  await jsonTraceExporter({ dir: "/traces" }).export(trace);
  return path;
}

describe("jsonTraceExporter", () => {
  let dir: string;
  beforeEach(() => {
    dir = temporaryFolder();
  });

  it("writes one file per run, named by its id", async () => {
    const exporter = jsonTraceExporter({ dir: join(dir, "deep") });
    await exporter.export(traceOf("run-1"));
    await exporter.export(traceOf("run-2"));
    expect(await readdir(join(dir, "deep"))).to.have.members([
      "run-1.trace.json",
      "run-2.trace.json",
    ]);
  });

  it("overwrites a fixed file", async () => {
    const file = join(dir, "last.json");
    const exporter = jsonTraceExporter({ file });
    await exporter.export(traceOf("run-1"));
    await exporter.export(traceOf("run-2"));
    expect(JSON.parse(await readFile(file, "utf8"))).to.have.property("ensembleId", "run-2");
    expect(await readdir(dir)).to.deep.equal(["last.json"]);
  });

  it("replaces neither a folder nor a device", async () => {
    await mkdir(join(dir, "folder"));
    await symlink("/dev/null", join(dir, "device"));
    for (const [name, why] of [
      ["folder", "it is a folder"],
      ["device", "it is not a regular file"],
    ] as const) {
      // prettier-ignore
      expect((await rejectionOf(ValidationError, traceOf("run-1").save(join(dir, name)))).message).to.include(why);
    }
    expect(await readdir(dir)).to.have.members(["folder", "device"]);
  });

  it("derives a safe file name from any id, and never leaves its folder", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.constantFrom("", ".", "..", "../../etc/passwd", "/abs", "a/b", "x".repeat(500)),
          fc.constantFrom("-", "-rf", "--", `-/${"x".repeat(500)}`, `con.${"x".repeat(500)}`),
        ),
        async (id) => {
          const path = await pathOf(id);
          expect(dirname(path)).to.equal("/traces");
          expect(basename(path)).to.match(/^[A-Za-z0-9_][A-Za-z0-9._-]*\.trace\.json$/);
          expect(basename(path).length).to.be.at.most(120);
        },
      ),
    );
  });

  it("distinguishes ids that would look alike", async () => {
    const names = await Promise.all(
      ["a/b", "a_b", "a b", "a:b", `${"x".repeat(200)}1`, `${"x".repeat(200)}2`].map(pathOf),
    );
    expect(new Set(names).size).to.equal(names.length);
    expect(names[1]).to.equal("/traces/a_b.trace.json");
  });

  it("writes separate files for two ids that differ in characters that names can't contain", async () => {
    const spellings = [
      ...["a/b", "a_b", "a\\b", "a b", "a\u0000b", "A_B", "A/B", "a_B"],
      ...["\u00e9", "e\u0301", "_", "-", "--", "", ".", "..", "run", "Run", "RUN"],
      ...["r.trace", "r.dag", "r", "r.trace.json", "r.json", "con", "CON", "_con", "-rf", "_rf"],
    ];
    const hashed = spellings.map((id) => traceFileName(id, ".trace.json").slice(0, -11));
    const ids = [...new Set([...spellings, ...hashed])];
    const dag = new Ensemble({ tasks: [Task.of("a")] }).toDag();
    const exporter = jsonTraceExporter({ dir, dag: () => dag });
    for (const id of ids) await exporter.export(traceOf(id));
    const files = await readdir(dir);
    expect(new Set(files.map((name) => name.toLowerCase())).size).to.equal(2 * ids.length);
    const traces = files.filter((name) => name.endsWith(".trace.json"));
    const found = await Promise.all(
      traces.map(async (name) => JSON.parse(await readFile(join(dir, name), "utf8")) as unknown),
    );
    expect(found.map((trace) => (trace as ExecutionTrace).ensembleId)).to.have.members(ids);
    for (const name of traces)
      expect(files).to.include(name.replace(/\.trace\.json$/, ".dag.json"));
  });

  it("never gives two ids the same file name, nor that of a diagram, on any system", async () => {
    const rivals = async (id: string): Promise<readonly string[]> => [
      id.toUpperCase(),
      `${id}.dag`,
      basename(await pathOf(id), ".trace.json"),
    ];
    for (const id of ["run", "Run", "a/b", "Ünï", "x.dag", "", "con"]) {
      const ids = new Set([id, ...(await rivals(id))]);
      for (const rival of [...ids]) for (const other of await rivals(rival)) ids.add(other);
      const names = [...ids].flatMap((each) => [
        traceFileName(each, ".trace.json").toLowerCase(),
        traceFileName(each, ".dag.json").toLowerCase(),
      ]);
      expect(new Set(names).size, id).to.equal(names.length);
    }
  });

  it("writes files and folders for their owner alone", async () => {
    const folder = join(dir, "deep", "er");
    await jsonTraceExporter({ dir: folder }).export(traceOf("run"));
    expect((await stat(join(folder, "run.trace.json"))).mode & 0o777).to.equal(0o600);
    for (const made of [folder, dirname(folder)])
      expect((await stat(made)).mode & 0o777).to.equal(0o700);
  });

  it("avoids the names that Windows reserves for devices", async () => {
    for (const id of ["con", "NUL", "com1", "aux.txt"])
      expect(basename(await pathOf(id))).to.match(/^_/);
    expect(basename(await pathOf("console"))).to.equal("console.trace.json");
  });

  it("writes the diagram next to each trace, with the executed transitions", async () => {
    const states = { ask: Task.of("Ask"), answer: Task.of("Answer") };
    const edges = [
      { from: "ask", to: "answer" },
      { from: "answer", to: Graph.END, when: () => true },
      { from: "answer", to: "ask" },
    ] as const;
    await using ensemble: Ensemble = new Ensemble({
      model: new ScriptedModel(() => "x"),
      graph: new Graph({ name: "talk", states, start: "ask", edges }),
      traceExporter: [
        jsonTraceExporter({ dir, dag: () => ensemble.toDag() }),
        jsonTraceExporter({ file: join(dir, "last.trace.json"), dag: () => ensemble.toDag() }),
      ],
    });
    const { trace } = await ensemble.run({}, { runId: "r" });
    expect(await readdir(dir)).to.have.members([
      "r.trace.json",
      "r.dag.json",
      "last.trace.json",
      "last.dag.json",
    ]);
    const dag = JSON.parse(await readFile(join(dir, "r.dag.json"), "utf8")) as RunDag;
    expect(dag).to.include({
      type: "dag",
      schemaVersion: "1.3",
      generatedAt: trace.completedAt.toISOString(),
      graphTerminationReason: "terminal",
      graphStepsRun: 2,
    });
    expect(dag.graphEdges?.map(({ fired }) => fired)).to.deep.equal([true, true, false]);
    expect(dag.tasks.map(({ id }) => id)).to.include.members(
      trace.taskTraces.map(({ taskId }) => taskId),
    );
  });

  it("removes secrets from the texts of the diagram, and keeps the names that connect its parts", async () => {
    const agent = new Agent({
      role: "Caller",
      goal: `Call with ${KEY}`,
      background: `Knows ${KEY}`,
    });
    const call = new Task({
      name: "call",
      description: `Use ${KEY}`,
      expectedOutput: `Not ${KEY}`,
      agent,
    });
    const states = { call, end: Task.of("End") };
    const graph = new Graph({
      name: "g",
      states,
      start: "call",
      edges: [
        { from: "call", to: "end", label: `if ${KEY}`, when: () => true },
        { from: "call", to: Graph.END },
        { from: "end", to: Graph.END },
      ],
    });
    const loops = [new Loop({ name: "l", tasks: [call] })];
    for (const [runId, options] of Object.entries({ graph: { graph }, loop: { loops } })) {
      const dag = new Ensemble({ model: new ScriptedModel([]), ...options }).toDag();
      await jsonTraceExporter({ dir, dag: () => dag }).export(traceOf(runId));
      const text = await readFile(join(dir, `${runId}.dag.json`), "utf8");
      expect(text).to.include("Use [redacted]").and.include("Not [redacted]").and.not.include(KEY);
      expect((JSON.parse(text) as RunDag).tasks.map(({ id }) => id)).to.deep.equal(
        dag.tasks.map(({ id }) => id),
      );
    }
  });

  it("adds the time of the run to the diagram of other workflows", () => {
    const dag = new Ensemble({ tasks: [Task.of("a")] }).toDag();
    expect(dagOfRun(dag, traceOf("r"))).to.deep.equal({
      ...dag,
      generatedAt: traceOf("r").completedAt,
    });
  });

  it("refuses both targets, no target, blank and unknown options", () => {
    for (const options of [
      {},
      { dir: "a", file: "b" },
      { dir: " " },
      { file: 5 },
      { folder: "a" },
      { dir: "a", dag: {} },
      undefined,
    ]) {
      expect(() => jsonTraceExporter(options as never)).to.throw(ValidationError);
    }
  });

  it("fails with a ValidationError that names the path", async () => {
    await jsonTraceExporter({ file: join(dir, "plain") }).export(traceOf("r"));
    const e: unknown = await jsonTraceExporter({ dir: join(dir, "plain") })
      .export(traceOf("r"))
      .catch((error: unknown) => error);
    expect(e).to.be.instanceOf(ValidationError);
    expect((e as ValidationError).message).to.contain(join(dir, "plain", "r.trace.json"));
  });
});
