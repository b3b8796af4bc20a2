import { workflowContract } from "agentensemble/testing";
import { expect } from "chai";
import { sequentialWorkflow } from "../../../src/plugins/workflows/sequential/sequential-workflow.js";
import { echo, failing, runToEnd } from "../../support/kernel-fixtures.js";

workflowContract(() => sequentialWorkflow);

describe("SEQUENTIAL", () => {
  it("runs the tasks in the order of the list and ends with the last text", async () => {
    const { output, events } = await runToEnd({
      tasks: [echo("a"), echo("b"), echo("c")],
      workflow: "SEQUENTIAL",
    });
    expect(output.raw).to.equal("c");
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["a", "b", "c"]);
    const starts = events.filter(
      (event) => event.type === "task_started" || event.type === "task_completed",
    );
    expect(starts.map(({ taskId, type }) => `${type} ${taskId}`)).to.deep.equal(
      [1, 2, 3].flatMap((n) => [`task_started task-${n}`, `task_completed task-${n}`]),
    );
  });

  it("passes on the outputs of the context, not of all earlier tasks", async () => {
    const a = echo("a");
    const c = echo("c", [a]).with({
      handler: (ctx) => ctx.contextOutputs.map(({ raw }) => raw).join(),
    });
    expect(
      (await runToEnd({ tasks: [a, echo("b"), c], workflow: "SEQUENTIAL" })).output.raw,
    ).to.equal("a");
  });

  it("stops at the first failure, which contains the finished outputs", async () => {
    const cause = new Error("broken");
    const { error, output } = await runToEnd({
      tasks: [echo("a"), failing("b", cause), echo("c")],
      workflow: "SEQUENTIAL",
    });
    expect(error).to.include({
      code: "AE_TASK_EXECUTION",
      message: "Task failed: b: Deterministic task handler threw an exception: broken",
      taskDescription: "b",
      agentRole: "(deterministic)",
    });
    expect((error?.cause as Error).cause).to.equal(cause);
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["a"]);
    expect(
      (error as unknown as { completedTaskOutputs: unknown }).completedTaskOutputs,
    ).to.deep.equal(output.taskOutputs);
  });
});
