import { expect } from "chai";
import fc from "fast-check";
import type { Dag, DagTask } from "../../src/contracts/dag.js";
import type { AnyTask } from "../../src/contracts/task.js";
import { AgentSynthesizer } from "../../src/ensemble/factories.js";
import { Agent } from "../../src/contracts/agent.js";
import { ValidationError } from "../../src/contracts/errors.js";
import { Graph } from "../../src/contracts/graph.js";
import { Loop } from "../../src/contracts/loop.js";
import { Phase, PhaseReview } from "../../src/contracts/phase.js";
import { Task } from "../../src/contracts/task.js";
import { tool } from "../../src/contracts/tool.js";
import { Ensemble } from "../../src/ensemble/ensemble.js";
import { MapReduceEnsemble } from "../../src/map-reduce/map-reduce-ensemble.js";

const plain = (name: string, context: readonly AnyTask[] = []): AnyTask =>
  new Task({ name, description: `Do ${name}`, context, handler: () => name });
const taskOf = ({ tasks }: Dag, id: string): DagTask =>
  tasks.find((task) => task.id === id) ?? expect.fail(`no task ${id}`);

/** A diamond with a tail: a -> b, c -> d; e alone. */
function diamond(): AnyTask[] {
  const a = plain("a");
  const [b, c] = [plain("b", [a]), plain("c", [a])];
  return [a, b, c, plain("d", [b, c]), plain("e")];
}

describe("ensemble.toDag()", () => {
  it("contains the tasks with contexts, levels and the longest chain; the later task wins a tie", () => {
    const dag = new Ensemble({ tasks: diamond() }).toDag();
    expect(dag).to.include({ schemaVersion: "1.3", type: "dag", workflow: "PARALLEL" });
    expect(dag.parallelGroups).to.deep.equal([["a", "e"], ["b", "c"], ["d"]]);
    expect(dag.criticalPath).to.deep.equal(["a", "c", "d"]);
    expect(taskOf(dag, "d")).to.deep.equal({
      id: "d",
      description: "Do d",
      expectedOutput: "Produce a complete and accurate response to the task.",
      agentRole: "(deterministic)",
      dependsOn: ["b", "c"],
      parallelGroup: 2,
      onCriticalPath: true,
    });
    expect(dag).not.to.have.any.keys("mode", "mapReduceMode", "graphEdges", "generatedAt");
  });

  it("calls nothing, needs neither a model nor inputs, and keeps texts unchanged", () => {
    const dag = new Ensemble({
      model: "nowhere:model",
      tasks: [Task.of("Write about {topic}")],
    }).toDag();
    expect(dag.tasks[0]?.description).to.equal("Write about {topic}");
  });

  it("names the agent of each task, if it is known", () => {
    const look = tool({ name: "look", description: "Looks", execute: () => "" });
    const agent = new Agent({
      role: "Owl",
      goal: "See",
      background: "Night",
      tools: [look],
      allowDelegation: true,
    });
    const worker = new Agent({ role: "Mouse", goal: "Hide" });
    const tasks = [
      new Task({ description: "Look", agent }),
      Task.of("Research it"),
      plain("p"),
      new Task({ description: "Look again", agent }),
    ];
    const dag = new Ensemble({ tasks, agents: [worker] }).toDag();
    expect(dag.tasks.map(({ agentRole }) => agentRole)).to.deep.equal([
      "Owl",
      "Researcher",
      "(deterministic)",
      "Owl",
    ]);
    expect(dag.agents).to.deep.equal([
      { role: "Mouse", goal: "Hide", background: undefined, toolNames: [], allowDelegation: false },
      { role: "Owl", goal: "See", background: "Night", toolNames: ["look"], allowDelegation: true },
    ]);
    expect(
      new Ensemble({
        tasks: [Task.of("Research it")],
        agentSynthesizer: AgentSynthesizer.llmBased(),
      }).toDag().tasks[0]?.agentRole,
    ).to.equal("(synthesized)");
  });

  it("orders sequential tasks one after the other", () => {
    const dag = new Ensemble({
      workflow: "SEQUENTIAL",
      tasks: [plain("x"), plain("y"), plain("z")],
    }).toDag();
    expect(dag.parallelGroups).to.deep.equal([["x"], ["y"], ["z"]]);
    expect(dag.criticalPath).to.deep.equal(["x", "y", "z"]);
    expect(dag.tasks.map(({ dependsOn }) => dependsOn)).to.deep.equal([[], [], []]);
  });

  const drawn = ({ edges }: Dag): readonly string[] =>
    edges.map(({ fromTaskId, toTaskId, kind }) => `${fromTaskId} ${kind} ${toTaskId}`);

  it("has an edge for every context, and for every order between tasks without a context", () => {
    const x = plain("x");
    const tasks = [x, plain("y"), plain("z", [x])];
    expect(drawn(new Ensemble({ workflow: "SEQUENTIAL", tasks }).toDag())).to.deep.equal([
      "x order y",
      "x context z",
      "y order z",
    ]);
    expect(drawn(new Ensemble({ tasks }).toDag())).to.deep.equal(["x context z"]);
  });

  it("has the edges inside loops and back, and those between phases", () => {
    const draft = plain("draft");
    const loop = new Loop({
      name: "polish",
      tasks: [draft, plain("score"), plain("judge", [draft])],
      maxIterations: 2,
    });
    const looped = new Ensemble({ workflow: "SEQUENTIAL", tasks: [plain("a")], loops: [loop] });
    expect(drawn(looped.toDag())).to.deep.equal([
      "a order $loop:polish",
      "polish/draft order polish/score",
      "polish/draft context polish/judge",
      "polish/score order polish/judge",
      "polish/judge repeat polish/draft",
    ]);
    const first = new Phase({ name: "first", tasks: [plain("a"), plain("b")] });
    const second = new Phase({ name: "second", tasks: [plain("c")], after: [first] });
    expect(drawn(new Ensemble({ phases: [first, second] }).toDag())).to.deep.equal([
      "first/a order first/b",
      "first/b order second/c",
    ]);
    const a = plain("a");
    const parallel = new Phase({ name: "only", tasks: [a, plain("b"), plain("c", [a])] });
    expect(drawn(new Ensemble({ phases: [parallel] }).toDag())).to.deep.equal([
      "only/a context only/c",
    ]);
  });

  it("contains the manager of HIERARCHICAL, and no unused roles", () => {
    const agents = ["Owl", "Mouse", "Owl"].map((role) => new Agent({ role, goal: "See" }));
    const tasks = [Task.of("Research it"), new Task({ description: "Look", agent: agents[0] })];
    const dag = new Ensemble({ workflow: "HIERARCHICAL", tasks, agents }).toDag();
    expect(dag.tasks.map(({ id, agentRole, nodeType }) => [id, agentRole, nodeType])).to.deep.equal(
      [
        ["task-3", "Manager", "manager"],
        ["task-1", "(assigned)", undefined],
        ["task-2", "Owl", undefined],
      ],
    );
    expect(drawn(dag)).to.deep.equal(["task-3 delegation task-1", "task-3 delegation task-2"]);
    expect(
      dag.agents.map(({ role }) => role),
      "each role once",
    ).to.deep.equal(["Owl", "Mouse"]);
    const made = new Ensemble({ workflow: "HIERARCHICAL", tasks: [Task.of("Research it")] });
    expect(taskOf(made.toDag(), "task-1").agentRole).to.equal("Researcher");
  });

  it("refuses tasks that run() would refuse", () => {
    const [a = plain("a"), b = plain("b")] = diamond();
    expect(() => new Ensemble({ workflow: "SEQUENTIAL", tasks: [b, a] }).toDag()).to.throw(
      ValidationError,
      "appears later",
    );
    expect(() => new Ensemble({ tasks: [b] }).toDag()).to.throw(
      ValidationError,
      "not in the ensemble",
    );
    expect(() => new Ensemble({ tasks: [a, a] }).toDag()).to.throw(ValidationError, "listed twice");
    expect(() => new Ensemble({}).toDag()).to.throw(ValidationError, "at least one task");
  });

  it("places later phases on later levels, and reviews after their phase", () => {
    const market = new Phase({
      name: "market",
      tasks: [plain("size"), plain("rivals")],
      workflow: "PARALLEL",
    });
    const tech = new Phase({
      name: "tech",
      tasks: [plain("a"), plain("b")],
      review: new PhaseReview({ task: Task.of("Review it") }),
    });
    const memo = new Phase({ name: "memo", tasks: [plain("write")], after: [market, tech] });
    const dag = new Ensemble({ phases: [market, tech, memo] }).toDag();
    expect(dag.workflow).to.equal("PHASES");
    expect(dag.parallelGroups).to.deep.equal([
      ["market/size", "market/rivals", "tech/a"],
      ["tech/b"],
      ["tech/review"],
      ["memo/write"],
    ]);
    expect(dag.criticalPath).to.deep.equal(["tech/a", "tech/b", "tech/review", "memo/write"]);
    expect(taskOf(dag, "tech/review")).to.deep.include({
      nodeType: "review",
      phase: "tech",
      dependsOn: ["tech/a", "tech/b"],
    });
    expect(taskOf(dag, "memo/write")).to.deep.include({ phase: "memo", dependsOn: [] });
  });

  it("shows a loop as one task that contains its body", () => {
    const first = plain("first");
    const draft = plain("draft");
    const loop = new Loop({
      name: "polish",
      tasks: [draft, plain("judge", [draft])],
      context: [first],
      maxIterations: 4,
    });
    const dag = new Ensemble({
      workflow: "PARALLEL",
      tasks: [first, plain("other")],
      loops: [loop],
    }).toDag();
    expect(dag.parallelGroups).to.deep.equal([["first", "other"], ["$loop:polish"]]);
    const node = taskOf(dag, "$loop:polish");
    expect(node).to.deep.include({
      nodeType: "loop",
      loopMaxIterations: 4,
      dependsOn: ["first"],
      onCriticalPath: true,
    });
    expect(node.loopBody?.map(({ id, dependsOn }) => [id, dependsOn])).to.deep.equal([
      ["polish/draft", []],
      ["polish/judge", ["polish/draft"]],
    ]);
    expect(
      new Ensemble({
        workflow: "SEQUENTIAL",
        tasks: [first, plain("other")],
        loops: [loop],
      }).toDag().parallelGroups,
    ).to.deep.equal([["first"], ["other"], ["$loop:polish"]]);
  });

  it("shows a graph by its states and edges, none of them fired", () => {
    const graph = new Graph({
      name: "support",
      states: { triage: plain("t"), fix: plain("f") },
      start: "triage",
      edges: [
        { from: "triage", to: "fix", when: () => true, label: "a bug" },
        { from: "triage", to: Graph.END, when: () => false },
        { from: "fix", to: "triage" },
      ],
    });
    const dag = new Ensemble({ graph }).toDag();
    expect(dag).to.include({
      workflow: "GRAPH",
      mode: "graph",
      graphStartStateId: "support/triage",
    });
    expect(dag.tasks.map(({ id, nodeType }) => [id, nodeType])).to.deep.equal([
      ["support/triage", "graph-state"],
      ["support/fix", "graph-state"],
      ["__END__", "graph-end"],
    ]);
    expect(dag.parallelGroups.at(-1)).to.deep.equal(["__END__"]);
    expect(dag.edges, "its transitions are its edges").to.deep.equal([]);
    const ids = new Set(dag.tasks.map(({ id }) => id));
    for (const { toStateId } of dag.graphEdges ?? []) expect(ids).to.include(toStateId);
    expect(dag.graphEdges).to.deep.equal([
      {
        fromStateId: "support/triage",
        toStateId: "support/fix",
        conditionDescription: "a bug",
        unconditional: false,
        fired: false,
      },
      {
        fromStateId: "support/triage",
        toStateId: "__END__",
        conditionDescription: "predicate",
        unconditional: false,
        fired: false,
      },
      {
        fromStateId: "support/fix",
        toStateId: "support/triage",
        conditionDescription: "unconditional",
        unconditional: true,
        fired: false,
      },
    ]);
    expect(dag.criticalPath).to.deep.equal([]);
  });

  it("shows the levels of a map-reduce", () => {
    const dag = MapReduceEnsemble.of(
      "nowhere:model",
      ["a", "b", "c", "d", "e", "f"],
      "Map",
      "Reduce",
    )
      .toEnsemble()
      .toDag();
    expect(dag.mapReduceMode).to.equal("STATIC");
    expect(taskOf(dag, "map-6")).to.include({ nodeType: "map", mapReduceLevel: 0 });
    expect(taskOf(dag, "final-reduce")).to.deep.include({
      nodeType: "final-reduce",
      mapReduceLevel: 2,
      parallelGroup: 2,
      dependsOn: ["reduce-1-1", "reduce-1-2"],
    });
  });

  it("places every task one level after its last dependency, in any graph", () => {
    const edges = fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(edges, (contexts) => {
        const tasks: AnyTask[] = [];
        for (const [i, picks] of contexts.entries())
          tasks.push(
            plain(
              `t${i}`,
              i === 0
                ? []
                : [...new Set(picks.map((pick) => pick % i))].flatMap(
                    (index) => tasks[index] ?? [],
                  ),
            ),
          );
        const dag = new Ensemble({ workflow: "PARALLEL", tasks }).toDag();
        const level = new Map(dag.tasks.map(({ id, parallelGroup }) => [id, parallelGroup]));
        for (const { dependsOn, parallelGroup } of dag.tasks)
          expect(parallelGroup).to.equal(
            Math.max(-1, ...dependsOn.map((id) => level.get(id) ?? 0)) + 1,
          );
        expect(dag.criticalPath.map((id) => level.get(id))).to.deep.equal(
          dag.parallelGroups.map((_, index) => index),
        );
        expect(dag.parallelGroups.flat().sort()).to.deep.equal(
          dag.tasks.map(({ id }) => id).sort(),
        );
      }),
    );
  });
});

describe("ensemble.toMermaid()", () => {
  const linesOf = (ensemble: Ensemble): string[] =>
    ensemble
      .toMermaid()
      .trimEnd()
      .split("\n")
      .map((line) => line.trim());

  it("draws tasks and the flow of their outputs", () => {
    const [a = plain("a"), b = plain("b")] = diamond();
    expect(linesOf(new Ensemble({ tasks: [a, b, Task.of("Research it")] }))).to.deep.equal([
      "flowchart TD",
      'n1["a<br/>Do a<br/>(deterministic)"]',
      'n2["b<br/>Do b<br/>(deterministic)"]',
      'n3("task-3<br/>Research it<br/>Researcher")',
      "n1 --> n2",
    ]);
  });

  it("draws the order of sequential tasks with dotted lines if no output is passed", () => {
    const [a = plain("a"), b = plain("b")] = diamond();
    expect(
      linesOf(new Ensemble({ workflow: "SEQUENTIAL", tasks: [a, b, plain("z")] })).slice(4),
    ).to.deep.equal(["n1 --> n2", "n2 -.-> n3"]);
  });

  it("draws phases as groups connected by arrows", () => {
    const one = new Phase({ name: "one", tasks: [plain("x"), plain("y")] });
    expect(
      linesOf(
        new Ensemble({
          phases: [one, new Phase({ name: "two", tasks: [plain("z")], after: [one] })],
        }),
      ),
    ).to.deep.equal([
      "flowchart TD",
      'subgraph n1["phase one"]',
      'n2["one/x<br/>Do x<br/>(deterministic)"]',
      'n3["one/y<br/>Do y<br/>(deterministic)"]',
      "n2 -.-> n3",
      "end",
      'subgraph n4["phase two"]',
      'n5["two/z<br/>Do z<br/>(deterministic)"]',
      "end",
      "n1 -.-> n4",
    ]);
  });

  it("draws a loop as a group with an arrow back to its start", () => {
    const lines = linesOf(
      new Ensemble({
        loops: [
          new Loop({ name: "polish", tasks: [plain("draft"), plain("judge")], maxIterations: 3 }),
        ],
      }),
    );
    expect(lines).to.include.members([
      'subgraph n1["loop polish"]',
      "n2 -.-> n3",
      'n3 -.->|"up to 3 times"| n2',
      "end",
    ]);
  });

  it("draws a graph from its start to its end, with labels on its edges", () => {
    const edges = [
      { from: "s", to: "t", when: () => true, label: "if so" },
      { from: "s", to: "s" },
      { from: "t", to: Graph.END },
    ] as const;
    const graph = new Graph({
      name: "g",
      states: { s: plain("s"), t: plain("t") },
      start: "s",
      edges,
    });
    expect(linesOf(new Ensemble({ graph })).slice(1)).to.deep.equal([
      'n1(["start"])',
      'n2["g/s<br/>Do s<br/>(deterministic)"]',
      'n3["g/t<br/>Do t<br/>(deterministic)"]',
      'n4(["end"])',
      "n1 --> n2",
      'n2 -->|"if so"| n3',
      "n2 --> n2",
      "n3 --> n4",
    ]);
  });

  it("draws the manager between the tasks and the workers", () => {
    const worker = new Agent({ role: "Owl", goal: "See" });
    const lines = linesOf(
      new Ensemble({
        workflow: "HIERARCHICAL",
        agents: [worker],
        tasks: [new Task({ name: "manager", description: "Look", agent: worker })],
      }),
    );
    expect(lines.slice(1)).to.deep.equal([
      'n1("manager<br/>Look<br/>Owl")',
      'n2{{"Manager"}}',
      'n3(["Owl"])',
      "n1 --> n2",
      "n2 --> n3",
    ]);
  });

  it("escapes all texts in labels", () => {
    const alphabet = fc.constantFrom(
      ..."abz \n\"'`#;:|[](){}<>%&$\\-=~*_@!?é🙂".split(/(?:)/u),
      "%%{init: ",
      "end",
      "-->",
      "subgraph",
      "<script>",
    );
    const texts = fc
      .array(alphabet, { minLength: 1, maxLength: 30 })
      .map((parts) => `x${parts.join("")}`);
    fc.assert(
      fc.property(texts, texts, (name, description) => {
        const lines = linesOf(
          new Ensemble({
            tasks: [
              new Task({ name, description, agent: new Agent({ role: description, goal: "g" }) }),
            ],
          }),
        );
        expect(lines).to.have.length(2);
        expect(lines[1]).to.match(/^n1\("(?:[\p{L}\p{N} .,'()/_+…-]|#\d+;|<br\/>)*"\)$/u);
      }),
    );
  });
});
