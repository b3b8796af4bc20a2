import type { EnsembleOptions } from "agentensemble";
import { Ensemble, Graph, Loop, Phase, Task, ValidationError } from "agentensemble";
import { expect } from "chai";

const task = (description = "Work"): Task => new Task({ description, handler: () => "done" });
const loop = (name = "loop"): Loop => new Loop({ name, tasks: [task()] });
const phase = (name = "phase"): Phase => Phase.of(name, task());
const graph = (): Graph<"a"> =>
  new Graph({
    name: "graph",
    states: { a: task() },
    start: "a",
    edges: [{ from: "a", to: Graph.END }],
  });
const make = (o: object): Ensemble => new Ensemble(o); // as JavaScript may call it

const NO_MIX =
  "An ensemble with `graph` can't have `tasks`, `loops` or `phases` too: a graph decides the whole order.";

describe("an ensemble's shape", () => {
  const refused: readonly (readonly [string, object, string])[] = [
    ["a graph beside tasks", { graph: graph(), tasks: [task()] }, NO_MIX],
    ["a graph beside loops", { graph: graph(), loops: [loop()] }, NO_MIX],
    ["a graph beside phases", { graph: graph(), phases: [phase()] }, NO_MIX],
    [
      "a graph with a workflow",
      { graph: graph(), workflow: "HIERARCHICAL" },
      "Workflow.HIERARCHICAL does not support a Graph. Leave `workflow` out of an ensemble with a `graph`.",
    ],
    [
      "phases beside tasks",
      { phases: [phase()], tasks: [task()] },
      "An ensemble can't have both `tasks` and `phases`. Put all tasks into phases, or list them without phases.",
    ],
    [
      "phases beside loops",
      { phases: [phase()], loops: [loop()] },
      "An ensemble can't have both `loops` and `phases`. Use loops together with `tasks`, or phases alone.",
    ],
    [
      "loops in HIERARCHICAL",
      { loops: [loop()], workflow: "HIERARCHICAL" },
      "Workflow.HIERARCHICAL does not support Loop nodes. Use Workflow.SEQUENTIAL or Workflow.PARALLEL when declaring loops.",
    ],
    [
      "two loops with one name",
      { loops: [loop("l"), loop("l")] },
      "Duplicate loop name 'l' detected. Loop names must be unique within an ensemble.",
    ],
    [
      "two phases with one name",
      { phases: [phase("p"), phase("p")] },
      "Duplicate phase name 'p' detected. Phase names must be unique within an ensemble.",
    ],
    [
      "a value that is not a phase",
      { phases: [{}] },
      "Ensemble phases[0] must be a Phase, got: {}",
    ],
    ["a value that is not a loop", { loops: [task()] }, "Ensemble loops[0] must be a Loop"],
    ["a value that is not a graph", { graph: {} }, "Ensemble graph must be a Graph, got: {}"],
    ["phases that are not a list", { phases: phase() }, "Ensemble phases must be an array"],
  ];
  for (const [what, options, message] of refused) {
    it(`refuses ${what}`, () => expect(() => make(options)).to.throw(ValidationError, message));
  }

  it("requires every phase that another phase comes after", () => {
    const first = phase("first");
    const second = new Phase({ name: "second", tasks: [task()], after: [first] });
    expect(() => make({ phases: [second] })).to.throw(
      ValidationError,
      "Phase 'second' comes after phase 'first', which is not in the ensemble's phases",
    );
    expect(() => make({ phases: [second, first] })).to.not.throw();
  });

  it("accepts context from all earlier phases, and from no others", () => {
    const facts = task("Facts");
    const first = Phase.of("first", facts);
    const second = new Phase({ name: "second", tasks: [task()], after: [first] });
    const memo = (): Task =>
      new Task({ description: "Memo", context: [facts], handler: () => "memo" });
    expect(() =>
      make({
        phases: [first, second, new Phase({ name: "third", tasks: [memo()], after: [second] })],
      }),
    ).to.not.throw();
    expect(() => make({ phases: [first, second, Phase.of("beside", memo())] })).to.throw(
      ValidationError,
      "Task 'Memo' in phase 'beside' references context task 'Facts' of phase 'first', which is not a predecessor",
    );
  });

  it("ignores empty lists next to other content", () => {
    expect(() => make({ graph: graph(), tasks: [], phases: [], loops: [] })).to.not.throw();
    expect(() =>
      make({ tasks: [task()], loops: [loop()], phases: [], workflow: "PARALLEL" }),
    ).to.not.throw();
  });

  const withoutModel: readonly (readonly [string, EnsembleOptions, string])[] = [
    [
      "a phase",
      { phases: [Phase.of("p", Task.of("Think"))] },
      "Task 'Think' in phase 'p' has no LLM available.",
    ],
    [
      "a loop",
      { loops: [new Loop({ name: "l", tasks: [Task.of("Think")] })] },
      "Loop 'l' body task 'Think' has no LLM source.",
    ],
    [
      "a graph",
      {
        graph: new Graph({
          name: "g",
          states: { a: Task.of("Think") },
          start: "a",
          edges: [{ from: "a", to: Graph.END }],
        }),
      },
      "Graph 'g' state 'a' Task has no LLM source.",
    ],
  ];
  for (const [what, options, message] of withoutModel) {
    it(`requires a model for the tasks of ${what}`, async () => {
      await using ensemble = new Ensemble(options);
      const error: unknown = await ensemble.run().catch((e: unknown) => e);
      expect(error).to.be.instanceOf(ValidationError);
      expect((error as ValidationError).message).to.include(message);
    });
  }

  it("refuses a task that occurs twice", async () => {
    const twice = task("Twice");
    await using ensemble = new Ensemble({
      tasks: [twice],
      loops: [new Loop({ name: "l", tasks: [twice] })],
    });
    const error: unknown = await ensemble.run().catch((e: unknown) => e);
    expect((error as ValidationError).message).to.include("Task 'Twice' is listed twice");
  });
});
