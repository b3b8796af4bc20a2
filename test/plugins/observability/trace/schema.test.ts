import { expect } from "chai";
import { Ensemble, Review, ReviewDecision, Task } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { OURS, problemsOf, SCHEMA } from "./schema.js";
import { TRACED, traceOf } from "./teams.js";

describe("schema 1.3 of the trace, field by field", () => {
  const seen = new Set<string>();

  for (const name of TRACED) {
    it(`is valid for ${name}, as a text and as an object`, async () => {
      const trace = await traceOf(name);
      const document: unknown = JSON.parse(trace.toJson());
      expect(problemsOf(document, "Trace", name, seen)).to.deep.equal([]);
      expect(JSON.parse(JSON.stringify(trace))).to.deep.equal(document);
    });
  }

  it("is valid for a run with a review", async () => {
    const { trace } = await new Ensemble({
      tasks: [new Task({ description: "d", handler: () => "out", review: Review.required() })],
      reviewHandler: () => ReviewDecision.continue({ by: "ana" }),
    }).run();
    const document: unknown = JSON.parse(trace.toJson());
    expect(problemsOf(document, "Trace", "reviewed", seen)).to.deep.equal([]);
    expect(JSON.parse(JSON.stringify(trace))).to.deep.equal(document);
  });

  it("is checked in every part", () => {
    const parts = new Set([...Object.keys(SCHEMA), ...Object.keys(OURS)]);
    expect([...parts].filter((part) => !seen.has(part))).to.deep.equal([]);
  });

  it("reports missing fields, unknown fields and fields of another type", () => {
    const agent = { role: "a", goal: 1, background: null, toolNames: ["x", 2], added: true };
    expect(problemsOf(agent, "Agent", "agent", new Set())).to.deep.equal([
      "agent.added is not in the tables",
      "agent.goal is no text: 1",
      "agent.toolNames[1] is no text: 2",
      "agent.allowDelegation is missing",
    ]);
  });
});

describe("the trace of", () => {
  it("a hierarchical run contains the tasks of its workers next to the manager's, and refused delegations", async () => {
    const { taskTraces } = await traceOf("hierarchical");
    expect(
      taskTraces.map(({ taskId, parentTaskId, agentRole }) => [taskId, parentTaskId, agentRole]),
    ).to.deep.equal([
      ["task-2", undefined, "Manager"],
      ["facts", "task-2", "Researcher"],
    ]);
    expect(taskTraces[1]).to.include({ finalOutput: "They sleep in the air." });
    const delegations = taskTraces[0]?.delegations ?? [];
    expect(
      delegations.map(({ workerRole, succeeded, priority }) => [workerRole, succeeded, priority]),
    ).to.deep.equal([
      ["Researcher", true, "NORMAL"],
      ["Nobody", false, "NORMAL"],
    ]);
    expect(
      delegations.map(({ workerTaskId, workerTrace }) => [workerTaskId, workerTrace]),
      "each task stands in the trace once",
    ).to.deep.equal([
      ["facts", undefined],
      [undefined, undefined],
    ]);
  });

  it("a loop contains its iterations, and each attempt of its tasks", async () => {
    const { loopTraces, taskTraces } = await traceOf("loop");
    expect(loopTraces[0]).to.include({
      loopName: "polish",
      iterationsRun: 2,
      terminationReason: "predicate",
      memoryMode: "WINDOW",
    });
    expect(loopTraces[0]?.iterations).to.deep.equal([
      ["draft", "score"],
      ["draft", "score"],
    ]);
    expect(taskTraces.map(({ taskId, attempt }) => [taskId, attempt])).to.deep.equal([
      ["polish/draft", 1],
      ["polish/score", 1],
      ["polish/draft", 2],
      ["polish/score", 2],
    ]);
  });

  it("a graph contains the visited path", async () => {
    const { graphTrace } = await traceOf("graph");
    expect(
      graphTrace?.steps.map(({ stateName, nextState }) => [stateName, nextState]),
    ).to.deep.equal([
      ["ask", "answer"],
      ["answer", "__END__"],
    ]);
  });

  it("phases shows which tasks each of them did", async () => {
    expect(
      (await traceOf("phases")).phases.map(({ name, taskIds }) => [name, taskIds]),
    ).to.deep.equal([
      ["ground", ["ground/dig"]],
      ["memo", ["memo/memo"]],
    ]);
  });

  it("a map-reduce run contains its levels", async () => {
    expect(
      (await traceOf("map-reduce")).mapReduceLevels?.map(({ taskCount }) => taskCount),
    ).to.deep.equal([3, 2, 1]);
  });

  it("a retried call contains both attempts", async () => {
    const right = (await traceOf("parallel")).taskTraces.find(({ taskId }) => taskId === "right");
    expect(
      right?.llmInteractions.map(({ attempt, responseType }) => [attempt, responseType]),
    ).to.deep.equal([
      [1, "ERROR"],
      [2, "FINAL_ANSWER"],
    ]);
  });

  it("a task whose agent could not be created contains the error", async () => {
    const agentSynthesizer = { synthesize: (): never => JSON.parse("{") as never };
    await using ensemble = new Ensemble({
      model: new ScriptedModel([]),
      agentSynthesizer,
      tasks: [new Task({ name: "lost", description: "Find somebody" })],
    });
    const { trace, metrics } = await ensemble.run({}, { throwOnError: false });
    expect(
      trace.taskTraces.map(({ taskId, outcome, attempt }) => [taskId, outcome, attempt]),
    ).to.deep.equal([["lost", "failed", 1]]);
    expect(trace.errors.map(({ taskId, errorType }) => [taskId, errorType])).to.deep.equal([
      ["lost", "SyntaxError"],
      [undefined, "TaskExecutionError"],
    ]);
    expect(metrics.tasks.map(({ taskId }) => taskId)).to.deep.equal(["lost"]);
  });

  const ENDINGS = {
    failed: ["ERROR", "AE_TASK_EXECUTION"],
    cancelled: ["CANCELLED", "AE_RUN_CANCELLED"],
    "timed-out": ["TIMEOUT", "AE_RUN_TIMEOUT"],
  };
  for (const [name, [exitReason, code]] of Object.entries(ENDINGS)) {
    it(`a ${name} run contains its tasks, and errors with stack traces`, async () => {
      const { errors, taskTraces, ...trace } = await traceOf(name);
      expect(trace.exitReason).to.equal(exitReason);
      expect(taskTraces.at(-1)?.outcome).to.be.oneOf(["failed", "aborted"]);
      expect(errors.at(-1)?.code).to.equal(code);
      for (const { stackTrace, message } of errors)
        expect(stackTrace)
          .to.include(message)
          .and.match(/\n\s+at /);
    });
  }
});
