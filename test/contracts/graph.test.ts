import { expect } from "chai";
import { ValidationError } from "../../src/contracts/errors.js";
import { GraphNoEdgeMatchedError } from "../../src/contracts/workflow-errors.js";
import { Graph } from "../../src/contracts/graph.js";
import { Task } from "../../src/contracts/task.js";

const task = Task.of("Work");
const valid = {
  name: "g",
  states: { a: task, b: Task.of("More") },
  start: "a",
  edges: [
    { from: "a", to: "b" },
    { from: "b", to: Graph.END },
  ],
} as const;
const from = (changes: object): Graph => new Graph<string>({ ...valid, ...changes }); // as JavaScript may call it

describe("Graph", () => {
  it("has defaults for everything except its shape, and is frozen", () => {
    const graph = new Graph(valid);
    expect(graph).to.include({
      name: "g",
      start: "a",
      maxSteps: 50,
      onMaxSteps: "RETURN_LAST",
      injectFeedbackOnRevisit: true,
    });
    expect(Object.keys(graph.states)).to.deep.equal(["a", "b"]);
    expect(graph.noFeedbackStates).to.deep.equal([]);
    expect(
      [graph, graph.states, graph.edges, graph.noFeedbackStates, ...graph.edges].every(
        Object.isFrozen,
      ),
    ).to.equal(true);
  });

  it("keeps its options", () => {
    const when = (): boolean => true;
    const edges = [
      { from: "a", to: "a", when, label: "again" },
      { from: "a", to: "b" },
      { from: "b", to: Graph.END },
    ] as const;
    const graph = new Graph({
      ...valid,
      edges,
      maxSteps: 3,
      onMaxSteps: "THROW",
      injectFeedbackOnRevisit: false,
      noFeedbackStates: ["b"],
    });
    expect(graph).to.include({ maxSteps: 3, onMaxSteps: "THROW", injectFeedbackOnRevisit: false });
    expect(graph.edges[0]).to.deep.equal({ from: "a", to: "a", when, label: "again" });
    expect(graph.noFeedbackStates).to.deep.equal(["b"]);
  });

  it("is typed with its states", () => {
    // @ts-expect-error: there is no state c
    expect(() => new Graph({ ...valid, start: "c" })).to.throw(ValidationError);
    // @ts-expect-error: nor can an edge lead there
    expect(() => new Graph({ ...valid, edges: [...valid.edges, { from: "a", to: "c" }] })).to.throw(
      ValidationError,
    );
  });

  const refused: readonly (readonly [string, object, string])[] = [
    ["a blank name", { name: " " }, "Graph name must be non-blank"],
    ["no states", { states: {} }, "Graph 'g' must declare at least one state"],
    ["a blank state", { states: { " ": task } }, "Graph 'g' state name must be non-blank"],
    [
      "a state named as the end",
      { states: { [Graph.END]: task } },
      "Graph 'g' state name '__END__' is reserved for Graph.END",
    ],
    [
      "a state without a task",
      { states: { a: null } },
      "Graph 'g' state 'a' must have a Task, got: null",
    ],
    ["no start", { start: undefined }, "Graph 'g' must declare a start state via .start(name)"],
    [
      "an unknown start",
      { start: "c" },
      "Graph 'g' start state 'c' is not a declared state. Known: [a, b]",
    ],
    [
      "the end as start",
      { start: Graph.END },
      "Graph 'g' start state '__END__' is not a declared state",
    ],
    ["edges that are not a list", { edges: {} }, "Graph 'g' edges must be an array, got: {}"],
    [
      "an edge from the end",
      { edges: [{ from: Graph.END, to: "a" }] },
      "Graph 'g' edge[0] 'from' must not be Graph.END",
    ],
    [
      "an edge from an unknown state",
      { edges: [{ from: "c", to: "a" }] },
      "Graph 'g' edge[0] 'from' = 'c' is not a declared state. Known: [a, b]",
    ],
    [
      "an edge to an unknown state",
      { edges: [{ from: "a", to: "c" }] },
      "Graph 'g' edge[0] 'to' = 'c' is neither Graph.END nor a declared state. Known: [a, b]",
    ],
    [
      "a predicate that is not a function",
      { edges: [{ from: "a", to: "b", when: true }] },
      "Graph 'g' edge[0] 'when' must be a function, got: true",
    ],
    [
      "an unknown option of an edge",
      { edges: [{ from: "a", to: "b", if: () => true }] },
      "Unknown option 'if' in Graph 'g' edge[0].",
    ],
    [
      "a state without an edge",
      { edges: [{ from: "a", to: "b" }] },
      "Graph 'g' states have no outgoing edges: [b]",
    ],
    ["no steps", { maxSteps: 0 }, "Graph 'g' maxSteps must be >= 1, got: 0"],
    [
      "an unknown end",
      { onMaxSteps: "FAIL" },
      "Graph 'g' onMaxSteps must be one of RETURN_LAST, THROW, RETURN_WITH_FLAG, got: FAIL",
    ],
    [
      "an unknown name in the states without feedback",
      { noFeedbackStates: ["c"] },
      "Graph 'g' noFeedbackStates names 'c', which is not a declared state. Known: [a, b]",
    ],
    ["an unknown option", { maxStep: 3 }, "Did you mean 'maxSteps'?"],
  ];
  for (const [what, changes, message] of refused) {
    it(`refuses ${what}`, () => expect(() => from(changes)).to.throw(ValidationError, message));
  }
});

describe("GraphNoEdgeMatchedError", () => {
  it("shows the first 200 characters of the output", () => {
    expect(new GraphNoEdgeMatchedError("g", "a", [], "x".repeat(201)).outputPreview).to.equal(
      `${"x".repeat(200)}…`,
    );
    expect(new GraphNoEdgeMatchedError("g", "a", [], "x".repeat(200)).outputPreview).to.equal(
      "x".repeat(200),
    );
  });
});
