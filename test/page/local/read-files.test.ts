import { expect } from "chai";
import type { LogEntry } from "../../../src/contracts/run-store.js";
import { readFiles, type TextFile } from "../../../page/src/local/read-files.js";
import { logText, runPage } from "../../../page/src/local/run-page.js";
import { graphSvg } from "../../../page/src/lib/graph-svg.js";
import { createRunState } from "../../../src/plugins/dashboard/protocol/run-state.js";
import { recordedLog } from "../../plugins/dashboard/logs.js";

function file(name: string, content: unknown, size?: number): TextFile {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return { name, size: size ?? text.length, lastModified: 5, text: () => Promise.resolve(text) };
}

const TASK = {
  taskId: "a",
  taskDescription: "Do a",
  agentRole: "Doer",
  startedAt: "2026-01-01T00:00:00Z",
  completedAt: "2026-01-01T00:00:01Z",
  finalOutput: "done",
};
const TRACE = {
  schemaVersion: "1.3",
  workflow: "SEQUENTIAL",
  startedAt: "2026-01-01T00:00:00Z",
  completedAt: "2026-01-01T00:00:02Z",
  taskTraces: [
    TASK,
    { ...TASK, taskId: "b", dependsOn: ["a", "missing"] },
    { ...TASK, taskId: "c", dependsOn: ["b", "c"] },
  ],
};
const DAG = {
  type: "dag",
  workflow: "PARALLEL",
  agents: [],
  tasks: [{ id: "x", description: "Do x", agentRole: "Doer", dependsOn: [] }],
  edges: [],
  parallelGroups: [["x"]],
  criticalPath: [],
};

function planIn(entries: readonly LogEntry[] | undefined): { readonly edges: readonly unknown[] } {
  const planned = entries?.find(({ type }) => type === "run_planned");
  return planned?.["dag"] as { readonly edges: readonly unknown[] }; // the plan of the entry
}

describe("files that are dropped on the page", () => {
  it("are traces, with the order of their tasks", async () => {
    const { runs, problems } = await readFiles([file("r-1.trace.json", TRACE)]);
    expect(problems).to.deep.equal([]);
    expect(runs.map(({ runId }) => runId)).to.deep.equal(["r-1"]);
    expect(planIn(runs[0]?.entries).edges).to.have.lengthOf(3);
  });

  it("are diagrams: of the trace with the same name, or alone", async () => {
    const pair = await readFiles([file("r-1.dag.json", DAG), file("r-1.trace.json", TRACE)]);
    expect(pair.runs).to.have.lengthOf(1);
    expect(planIn(pair.runs[0]?.entries)).to.deep.include({ workflow: "PARALLEL" });
    const alone = await readFiles([file("r-2.dag.json", DAG)]);
    expect(alone.runs[0]?.runId).to.equal("r-2");
    expect(alone.runs[0]?.entries).to.have.lengthOf(3);
  });

  it("are logs, in any order of their lines", async () => {
    const log = await recordedLog("sequential");
    const { runs } = await readFiles([file("r.log.jsonl", logText([...log].reverse()))]);
    expect(runs[0]?.entries).to.deep.equal(JSON.parse(JSON.stringify(log)));
    const one = await readFiles([file("one.jsonl", { n: 7, at: "2026-01-01", type: "x" })]);
    expect(one.runs[0]).to.deep.include({ runId: "one" });
  });

  it("are refused with the reason, each separately", async () => {
    const { runs, problems } = await readFiles([
      file("a.json", "{"),
      file("b.json", '{"n":0}\n{"other":1}'),
      file("c.json", { type: "dag", tasks: [{ id: 1 }] }),
      file("d.json", [], 300 * 1_024 * 1_024),
      file("e.trace.json", TRACE),
    ]);
    expect(runs).to.have.lengthOf(1);
    expect(problems.map((problem) => problem.slice(0, 7))).to.deep.equal([
      "a.json:",
      "b.json:",
      "d.json:",
      "c.json:",
    ]);
  });
});

describe("a page in one file", () => {
  const files = new Map([
    ["app-1.js", 'import{a}from"./chunk-2.js";import("./late-3.js");'],
    ["chunk-2.js", "export const a=1"],
    ["late-3.js", 'import"./chunk-2.js"'],
    ["app-4.css", "a{content:'</style>'}"],
  ]);
  const entries = [{ n: 0, at: "", type: "x", text: "</script><!--" }];
  const html = runPage({
    title: "<b>",
    run: { runId: "r", entries },
    files,
    main: "app-1.js",
  });

  it("has scripts that import each other by names of its import map", () => {
    const [, map = ""] = /<script type="importmap">(.*)<\/script>/.exec(html) ?? [];
    const { imports } = JSON.parse(map) as { imports: Record<string, string> };
    expect(Object.keys(imports)).to.have.members([
      "page/app-1.js",
      "page/chunk-2.js",
      "page/late-3.js",
    ]);
    const main = Buffer.from(imports["page/app-1.js"]?.split(",")[1] ?? "", "base64").toString();
    expect(main).to.equal('import{a}from"page/chunk-2.js";import("page/late-3.js");');
  });

  it("closes no element by its contents, and sends no requests", () => {
    expect(html.match(/<\/script>/g)).to.have.lengthOf(3);
    expect(html.match(/<\/style>/g)).to.have.lengthOf(1);
    expect(html).to.contain("&#60;b&#62;").and.to.contain("default-src 'none'");
    expect(html).not.to.match(/https?:|src=/);
  });
});

describe("picture of a plan", () => {
  it("has the tasks and edges, and no markup of their names", async () => {
    const state = createRunState();
    for (const entry of await recordedLog("loop")) state.apply(entry);
    const svg = graphSvg(state.view);
    expect(svg).to.match(/^<svg [^>]*viewBox="-20 -20 \d+/);
    expect(svg.match(/<rect /g)?.length).to.be.above(2);
    const hostile = createRunState();
    const dag = {
      ...DAG,
      tasks: [{ ...DAG.tasks[0], id: "<script>" }],
      parallelGroups: [["<script>"]],
    };
    hostile.apply({ n: 0, at: "2026-01-01T00:00:00Z", type: "run_planned", dag });
    expect(graphSvg(hostile.view)).not.to.contain("<script>");
  });
});
