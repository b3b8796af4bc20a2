import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { AnyTask, ExecutionTrace, RunDag } from "../../../../src/index.js";
import { Ensemble, Graph, MapReduceEnsemble, Phase, Task } from "../../../../src/index.js";
import { dagOf, jsonTraceExporter } from "../../../../src/observability.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { traceOf } from "../trace/teams.js";

const plain = (name: string, context: readonly AnyTask[] = []): AnyTask =>
  new Task({ name, description: `Do ${name}`, context, handler: () => name });
const drawn = ({ edges }: RunDag): readonly string[] =>
  edges.map(({ fromTaskId, toTaskId, kind }) => `${fromTaskId} ${kind} ${toTaskId}`);
const traced = async (ensemble: Ensemble): Promise<ExecutionTrace> => {
  await using team = ensemble;
  return (await team.run()).trace;
};

describe("dagOf(trace)", () => {
  it("contains the tree of an adaptive map-reduce, which no plan contains", async () => {
    await using ensemble = new MapReduceEnsemble({
      items: ["a", "b", "c", "d"],
      mapTask: (item: string) =>
        new Task({ description: `Map ${item}`, handler: () => item.repeat(40) }),
      reduceTask: (context) =>
        new Task({ description: "Reduce", context, handler: () => "r".repeat(40) }),
      targetTokenBudget: 25,
    });
    const dag = dagOf((await ensemble.run()).trace);
    expect(dag).to.include({ type: "dag", schemaVersion: "1.3", mapReduceMode: "ADAPTIVE" });
    const ids = new Set(dag.tasks.map(({ id }) => id));
    const reduces = dag.tasks.filter(({ nodeType }) => nodeType !== "map");
    expect(reduces.length).to.be.greaterThan(1);
    for (const { dependsOn } of reduces) {
      expect(dependsOn).to.not.be.empty;
      for (const id of dependsOn) expect(ids).to.include(id);
    }
    expect(dag.edges).to.have.lengthOf(reduces.flatMap(({ dependsOn }) => dependsOn).length);
    expect(dag.tasks.at(-1)).to.include({ nodeType: "final-reduce", onCriticalPath: true });
  });

  it("contains context and order of the executed tasks, and delegated tasks with their parents", async () => {
    const x = plain("x");
    const listed = new Ensemble({
      workflow: "SEQUENTIAL",
      tasks: [x, plain("y"), plain("z", [x])],
    });
    const sequential = dagOf(await traced(listed));
    expect(drawn(sequential)).to.have.members(["x order y", "x context z", "y order z"]);
    expect(sequential.criticalPath).to.deep.equal(["x", "y", "z"]);
    const delegation = dagOf(await traceOf("delegation"));
    expect(drawn(delegation)).to.deep.equal(["way delegation way.1"]);
    expect(delegation.tasks.at(-1)).to.include({ id: "way.1", nodeType: "delegated" });
    const first = new Phase({ name: "first", tasks: [plain("a")] });
    const second = new Phase({ name: "second", tasks: [plain("b")], after: [first] });
    const phased = dagOf(await traced(new Ensemble({ phases: [first, second] })));
    expect(drawn(phased)).to.deep.equal(["first/a order second/b"]);
  });

  it("contains the manager and the iterations of loops", async () => {
    const managed = dagOf(await traceOf("hierarchical"));
    expect(
      managed.tasks.map(({ id, nodeType, agentRole }) => [id, nodeType, agentRole]),
    ).to.deep.equal([
      ["task-2", "manager", "Manager"],
      ["facts", undefined, "Researcher"],
    ]);
    expect(drawn(managed)).to.deep.equal(["task-2 delegation facts"]);
    expect(drawn(dagOf(await traceOf("loop")))).to.include("polish/score repeat polish/draft");
  });

  it("contains the path through a graph, with its end", async () => {
    const graph = new Graph({
      name: "support",
      states: { triage: plain("t"), fix: plain("f"), never: plain("n") },
      start: "triage",
      edges: [
        { from: "triage", to: "fix" },
        { from: "fix", to: Graph.END },
        { from: "never", to: Graph.END },
      ],
    });
    const dag = dagOf(await traced(new Ensemble({ graph })));
    expect(dag.tasks.map(({ id }) => id)).to.deep.equal([
      "support/triage",
      "support/fix",
      "__END__",
    ]);
    expect(
      dag.graphEdges?.map(({ fromStateId, toStateId, fired }) => [fromStateId, toStateId, fired]),
    ).to.deep.equal([
      ["support/triage", "support/fix", true],
      ["support/fix", "__END__", true],
    ]);
    expect(dag).to.include({
      mode: "graph",
      graphStartStateId: "support/triage",
      graphStepsRun: 2,
    });
  });
});

describe("a diagram that is written next to a trace", () => {
  it("contains the texts and roles of the run, by the ids of the tasks", async () => {
    const dir = temporaryFolder();
    await using ensemble: Ensemble = new Ensemble({
      model: new ScriptedModel(["done"]),
      tasks: [Task.of("Research {topic}")],
      traceExporter: jsonTraceExporter({ dir, dag: () => ensemble.toDag() }),
    });
    await ensemble.run({ topic: "swifts" }, { runId: "run-1" });
    const dag = JSON.parse(readFileSync(join(dir, "run-1.dag.json"), "utf8")) as RunDag;
    expect(dag.tasks.map(({ id, description }) => [id, description])).to.deep.equal([
      ["task-1", "Research swifts"],
    ]);
  });
});
