import type { AnyTask, GraphOptions, GraphStep, TaskContext } from "agentensemble";
import {
  AgentExecutionError,
  ExitEarlySignal,
  Graph,
  GraphNoEdgeMatchedError,
  MaxGraphStepsExceededError,
  Task,
  ValidationError,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { echo, failing, failure, runToEnd } from "../../../support/kernel-fixtures.js";

type Options = GraphOptions<"write" | "judge">;

interface Parts {
  readonly write: Task;
  readonly judge: Task<number>;
  readonly told: TaskContext["revision"][];
}

/** A writer that counts its visits, and a judge that returns the number of the last draft. */
function parts(): Parts {
  const told: TaskContext["revision"][] = [];
  const write = new Task({
    description: "Write",
    handler: (ctx) => `draft ${told.push(ctx.revision)}`,
  });
  const judge = new Task({
    description: "Judge",
    context: [write],
    handler: (ctx) => Number(ctx.getOutput(write).raw.slice(6)),
  });
  return { write, judge, told };
}

/** Writes until the judge has received three drafts. */
function review({ write, judge }: Parts, o: Partial<Options> = {}): Graph<"write" | "judge"> {
  return new Graph({
    name: "review",
    states: { write, judge },
    start: "write",
    edges: [
      { from: "write", to: "judge" },
      {
        from: "judge",
        to: Graph.END,
        when: (step) => (step.getOutput(judge)?.parsed ?? 0) >= 3,
        label: "good",
      },
      { from: "judge", to: "write" },
    ],
    ...o,
  });
}

/** One state whose edges decide the next one. */
function single(
  task: AnyTask,
  edges: GraphOptions<"only">["edges"],
  o: Partial<GraphOptions<"only">> = {},
): Graph<"only"> {
  return new Graph({ name: "single", states: { only: task }, start: "only", edges, ...o });
}

describe("a graph", () => {
  it("walks from state to state until an edge leads to the end", async () => {
    const graph = parts();
    const { output } = await runToEnd({ graph: review(graph) });
    expect(output.graph?.terminationReason).to.equal("terminal");
    expect(output.graph?.stoppedByMaxSteps).to.equal(false);
    expect(
      output.graph?.steps.map(({ stateName, stepNumber, output: { raw }, nextState }) => [
        stateName,
        stepNumber,
        raw,
        nextState,
      ]),
    ).to.deep.equal([
      ["write", 1, "draft 1", "judge"],
      ["judge", 2, "1", "write"],
      ["write", 3, "draft 2", "judge"],
      ["judge", 4, "2", "write"],
      ["write", 5, "draft 3", "judge"],
      ["judge", 6, "3", "__END__"],
    ]);
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal([
      "draft 1",
      "1",
      "draft 2",
      "2",
      "draft 3",
      "3",
    ]);
    expect(output.raw).to.equal("3");
    expect(output.getOutput(graph.write)?.raw).to.equal("draft 3");
    expect(output.trace.workflow).to.equal("GRAPH");
  });

  it("takes the first matching edge, and evaluates no further edge", async () => {
    const asked: string[] = [];
    const when = (name: string, holds: boolean) => (): boolean => {
      asked.push(name);
      return holds;
    };
    const graph = new Graph({
      name: "crossing",
      states: { start: echo("Start"), left: echo("Left"), right: echo("Right") },
      start: "start",
      edges: [
        { from: "left", to: Graph.END },
        { from: "start", to: Graph.END, when: when("first", false) },
        { from: "start", to: "right", when: when("second", true) },
        { from: "start", to: "left", when: when("third", true) },
        { from: "right", to: Graph.END },
      ],
    });
    const { output } = await runToEnd({ graph });
    expect(output.graph?.steps.map(({ stateName }) => stateName)).to.deep.equal(["start", "right"]);
    expect(asked).to.deep.equal(["first", "second"]);
  });

  it("passes the current position and the finished states to its predicates", async () => {
    const seen: [string, string, number, readonly string[]][] = [];
    const graph = parts();
    const when = (step: GraphStep<"write" | "judge">): boolean => {
      seen.push([step.currentState, step.lastOutput.raw, step.stepNumber, step.stateHistory]);
      return step.getOutput(graph.write)?.raw === "draft 2";
    };
    const edges: Options["edges"] = [
      { from: "write", to: "judge" },
      { from: "judge", to: Graph.END, when },
      { from: "judge", to: "write" },
    ];
    await runToEnd({ graph: review(graph, { edges }) });
    expect(seen).to.deep.equal([
      ["judge", "1", 2, ["write", "judge"]],
      ["judge", "2", 4, ["write", "judge", "write", "judge"]],
    ]);
  });

  it("adds its last output to a state that is visited again", async () => {
    const graph = parts();
    await runToEnd({ graph: review(graph) });
    expect(graph.told).to.deep.equal([
      undefined,
      {
        feedback:
          "Graph state 'write' visit #2. Prior visit's output is provided above; refine your response based on it.",
        previousOutput: "draft 1",
      },
      {
        feedback:
          "Graph state 'write' visit #3. Prior visit's output is provided above; refine your response based on it.",
        previousOutput: "draft 2",
      },
    ]);
  });

  it("adds the feedback to the prompt, in a replaceable text", async () => {
    const model = new ScriptedModel(["first", "second"]);
    const graph = single(Task.of("Write"), [
      { from: "only", to: Graph.END, when: ({ stepNumber }) => stepNumber === 2 },
      { from: "only", to: "only" },
    ]);
    await runToEnd({ model, graph, prompts: { "graph.feedback": "{state}: visit {visit}" } });
    expect(JSON.stringify(model.requests[1]?.messages))
      .to.include("only: visit 2")
      .and.include("first");
  });

  it("adds no feedback if this is disabled, for the graph or for a state", async () => {
    for (const o of [
      { injectFeedbackOnRevisit: false },
      { noFeedbackStates: ["write"] as const },
    ]) {
      const graph = parts();
      await runToEnd({ graph: review(graph, o) });
      expect(graph.told).to.deep.equal([undefined, undefined, undefined]);
    }
  });

  it("passes the visited tasks of a task's context to it", async () => {
    const seen: number[] = [];
    const judge = echo("Judge");
    const write = new Task({
      description: "Write",
      context: [judge],
      handler: (ctx) => String(seen.push(ctx.contextOutputs.length)),
    });
    const edges: Options["edges"] = [
      { from: "write", to: "judge", when: ({ stepNumber }) => stepNumber === 1 },
      { from: "write", to: Graph.END },
      { from: "judge", to: "write" },
    ];
    await runToEnd({
      graph: new Graph({ name: "review", states: { write, judge }, start: "write", edges }),
    });
    expect(seen).to.deep.equal([0, 1]);
  });

  it("ends at maxSteps and reports it", async () => {
    const { output } = await runToEnd({ graph: review(parts(), { maxSteps: 3 }) });
    expect(output.graph).to.include({ terminationReason: "maxSteps", stoppedByMaxSteps: true });
    expect(output.raw).to.equal("draft 2");
  });

  it("is complete if the last permitted step leads to the end", async () => {
    const { output } = await runToEnd({
      graph: review(parts(), { maxSteps: 6, onMaxSteps: "THROW" }),
    });
    expect(output.graph).to.include({ terminationReason: "terminal", stoppedByMaxSteps: false });
  });

  it("fails at maxSteps if set, and keeps its history", async () => {
    const { error, output } = await runToEnd({
      graph: review(parts(), { maxSteps: 3, onMaxSteps: "THROW" }),
    });
    expect(error).to.be.instanceOf(MaxGraphStepsExceededError);
    expect(error).to.include({
      graphName: "review",
      maxSteps: 3,
      lastState: "write",
      message:
        "Graph 'review' did not reach a terminal state after 3 step(s). Last state: 'write'.",
    });
    expect(output.graph?.steps).to.have.length(3);
  });

  it("fails if no edge matches, naming the candidates", async () => {
    const never = (): boolean => false;
    const graph = single(echo("Lost"), [
      { from: "only", to: Graph.END, when: never, label: "found" },
      { from: "only", to: "only", when: never },
    ]);
    const { error } = await runToEnd({ graph });
    expect(error).to.be.instanceOf(GraphNoEdgeMatchedError);
    expect(error).to.include({ graphName: "single", currentState: "only", outputPreview: "Lost" });
    expect(error?.message).to.include("→ __END__ (found), → only (predicate)");
  });

  it("fails the run when a predicate throws, with the reason", async () => {
    const boom = new Error("boom");
    const graph = single(echo("Only"), [
      {
        from: "only",
        to: Graph.END,
        when: () => {
          throw boom;
        },
      },
    ]);
    const { error } = await runToEnd({ graph });
    expect(error).to.be.instanceOf(AgentExecutionError);
    expect(error?.cause).to.equal(boom);
  });

  it("ends early if a predicate requests it", async () => {
    const graph = single(echo("Only"), [
      {
        from: "only",
        to: Graph.END,
        when: () => {
          throw new ExitEarlySignal("enough");
        },
      },
    ]);
    const { error, output } = await runToEnd({ graph });
    expect(error).to.equal(undefined);
    expect(output.exitReason).to.equal("USER_EXIT_EARLY");
    expect(output.raw).to.equal("Only");
  });

  it("keeps the finished steps if a later one fails", async () => {
    const graph = new Graph({
      name: "short",
      states: { good: echo("Good"), bad: failing("Bad") },
      start: "good",
      edges: [
        { from: "good", to: "bad" },
        { from: "bad", to: Graph.END },
      ],
    });
    const { error, output } = await runToEnd({ graph });
    expect(error?.code).to.equal("AE_TASK_EXECUTION");
    expect(output.graph?.steps.map(({ stateName }) => stateName)).to.deep.equal(["good"]);
    expect(output.graph?.stoppedByMaxSteps).to.equal(false);
  });

  it("announces each step and is in the trace", async () => {
    const { output, events } = await runToEnd({
      graph: single(echo("Only"), [{ from: "only", to: Graph.END }]),
    });
    expect(
      events.flatMap((e) =>
        e.type === "graph_state_completed"
          ? [[e.graphName, e.stateName, e.stepNumber, e.nextState]]
          : [],
      ),
    ).to.deep.equal([["single", "only", 1, "__END__"]]);
    const { graphTrace } = JSON.parse(output.trace.toJson()) as { readonly graphTrace: unknown };
    expect(graphTrace).to.deep.equal({
      graphName: "single",
      startState: "only",
      terminationReason: "terminal",
      stepsRun: 1,
      maxSteps: 50,
      steps: [{ stateName: "only", stepNumber: 1, nextState: "__END__" }],
    });
  });

  it("can be cancelled also if its tasks never wait", async () => {
    const { error } = await runToEnd(
      { graph: single(echo("Busy"), [{ from: "only", to: "only" }], { maxSteps: 1_000_000 }) },
      { timeoutMs: 1 },
    );
    expect(error?.code).to.equal("AE_RUN_TIMEOUT");
  });

  it("is required by the workflow GRAPH", async () => {
    expect(await failure(runToEnd({ tasks: [echo("Only")], workflow: "GRAPH" }))).to.be.instanceOf(
      ValidationError,
    );
  });
});
