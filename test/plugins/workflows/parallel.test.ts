import type { Plan } from "agentensemble";
import { ParallelExecutionError, Task, ValidationError } from "agentensemble";
import { workflowContract } from "agentensemble/testing";
import { expect } from "chai";
import { parallelWorkflow } from "../../../src/plugins/workflows/parallel/parallel-workflow.js";
import { echo, failing, runToEnd, typesOf, waiting } from "../../support/kernel-fixtures.js";
import { pause } from "../../support/time.js";

workflowContract("PARALLEL, failing fast", { create: () => parallelWorkflow });
workflowContract("PARALLEL, continuing, one at a time", {
  create: () => parallelWorkflow,
  ensembleOptions: { parallelErrorStrategy: "CONTINUE_ON_ERROR", maxConcurrency: 1 },
});

const timed = (description: string, ms: number): Task =>
  new Task({ description, handler: async () => (await pause(ms), description) });

describe("PARALLEL", () => {
  it("returns outputs in the order of the list for any order of completion, and the text of the last task", async () => {
    const { output, events } = await runToEnd({
      tasks: [timed("a", 15), timed("b", 1), timed("c", 8)],
      workflow: "PARALLEL",
    });
    expect(output.raw).to.equal("c");
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["a", "b", "c"]);
    expect(typesOf(events).slice(2, 5)).to.deep.equal([
      "task_started",
      "task_started",
      "task_started",
    ]);
  });

  it("starts a task when its last context task is done, not earlier", async () => {
    const [slow, quick] = [timed("slow", 20), timed("quick", 1)];
    const after = [echo("after quick", [quick]), echo("after both", [slow, quick])];
    const { events } = await runToEnd({ tasks: [slow, quick, ...after] });
    const order = events.flatMap((event) =>
      event.type === "task_started" || event.type === "task_completed"
        ? [`${event.type.slice(5)} ${event.taskDescription}`]
        : [],
    );
    expect(order.indexOf("started after quick"))
      .to.be.greaterThan(order.indexOf("completed quick"))
      .and.lessThan(order.indexOf("completed slow"));
    expect(order.indexOf("started after both")).to.be.greaterThan(order.indexOf("completed slow"));
  });

  it("accepts tasks that precede their context in the list", async () => {
    const late = echo("late");
    const { output } = await runToEnd({ tasks: [echo("early", [late]), late] });
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["early", "late"]);
    expect(output.raw).to.equal("late");
  });

  it("accepts a context that contains one task twice", async () => {
    const a = echo("a");
    const b = new Task({
      description: "b",
      context: [a, a],
      handler: (ctx) => String(ctx.contextOutputs.length),
    });
    expect((await runToEnd({ tasks: [a, b] })).output.raw).to.equal("2");
  });

  it("runs at most maxConcurrency tasks concurrently, in the order of the list", async () => {
    let running = 0;
    let most = 0;
    const started: string[] = [];
    const tasks = Array.from(
      { length: 12 },
      (_, n) =>
        new Task({
          description: String(n),
          handler: async (ctx) => {
            started.push(ctx.description);
            most = Math.max(most, ++running);
            await pause(n % 3);
            running--;
            return "x";
          },
        }),
    );
    await runToEnd({ tasks, workflow: "PARALLEL", maxConcurrency: 3 });
    expect(most).to.equal(3);
    expect(started).to.deep.equal(tasks.map(({ description }) => description));
  });

  it("failing fast aborts work in flight, starts nothing further and throws the first failure", async () => {
    const cause = new Error("broken");
    let aborted = 0;
    const hanging = waiting("hanging", (ctx) =>
      ctx.signal.addEventListener("abort", () => aborted++),
    );
    const slow = timed("slow", 1_000);
    const { error, output, events } = await runToEnd(
      {
        tasks: [echo("quick"), hanging, failing("fails", cause), echo("never", [slow]), slow],
        workflow: "PARALLEL",
      },
      { cancelGraceMs: 10 },
    );
    expect(error).to.include({ code: "AE_TASK_EXECUTION", taskDescription: "fails" });
    expect((error?.cause as Error).cause).to.equal(cause);
    expect(aborted).to.equal(1);
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["quick"]);
    expect(
      events
        .filter((event) => event.type === "task_started")
        .map(({ taskDescription }) => taskDescription),
    ).to.not.include("never");
    const failed = events.filter((event) => event.type === "task_failed");
    expect(failed.map(({ taskDescription }) => taskDescription)).to.have.members([
      "fails",
      "hanging",
      "slow",
    ]);
    expect(
      failed.find(({ taskDescription }) => taskDescription === "hanging")?.cause,
    ).to.have.property("code", "AE_RUN_CANCELLED");
  });

  it("continuing on errors finishes the possible tasks and reports the failures; dependent tasks are skipped", async () => {
    const bad = failing("bad");
    const skipped = echo("skipped", [bad]);
    const worse = failing("worse");
    const tasks = [
      echo("a"),
      bad,
      skipped,
      echo("skipped too", [skipped, worse]),
      echo("d"),
      worse,
    ];
    const { error, output, events } = await runToEnd({
      tasks,
      parallelErrorStrategy: "CONTINUE_ON_ERROR",
    });
    expect(error).to.be.instanceOf(ParallelExecutionError);
    const parallel = error as ParallelExecutionError;
    expect(parallel).to.include({
      code: "AE_PARALLEL_EXECUTION",
      message: "2 of 6 tasks failed",
      failedCount: 2,
      completedCount: 2,
    });
    expect([...parallel.failedTaskCauses.keys()]).to.have.members(["task-2", "task-6"]);
    expect(parallel.failedTaskCauses.get("task-2")).to.have.property("code", "AE_TASK_EXECUTION");
    expect(parallel.completedTaskOutputs.map(({ raw }) => raw)).to.deep.equal(["a", "d"]);
    expect(parallel.cause).to.equal(parallel.failedTaskCauses.values().next().value);
    expect(output.taskOutputs).to.deep.equal(parallel.completedTaskOutputs);
    expect(events.filter(({ type }) => type === "task_started")).to.have.length(4);
  });

  it("refuses tasks that wait for each other in a cycle", () => {
    const plan = {
      tasks: [
        { id: "a", task: echo("A"), contextIds: ["b"] },
        { id: "b", task: echo("B"), contextIds: ["a"] },
      ],
      options: {},
      phases: [],
      loops: [],
      idOf: () => undefined,
    } as unknown as Plan; // can't be made from tasks
    expect(() => parallelWorkflow.validate?.(plan)).to.throw(
      ValidationError,
      "Circular context dependency detected involving task: 'A'",
    );
  });

  it("completes a chain of ten thousand tasks, and a thousand tasks that wait for one", async () => {
    const chain: Task[] = [];
    for (let n = 0; n < 10_000; n++) chain.push(echo(String(n), chain.slice(-1)));
    expect((await runToEnd({ tasks: chain })).output.taskOutputs).to.have.length(10_000);
    const [first, ...rest] = chain.slice(0, 1);
    const wide = [failing("first"), ...rest];
    const fan = wide.concat(Array.from({ length: 1_000 }, (_, n) => echo(String(n), wide)));
    expect(first).to.not.equal(undefined);
    expect(
      (await runToEnd({ tasks: fan, parallelErrorStrategy: "CONTINUE_ON_ERROR" })).output
        .taskOutputs,
    ).to.deep.equal([]);
  });
});
