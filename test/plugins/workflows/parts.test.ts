import type { SubPlanOptions, Plugin, Run, TaskContext } from "agentensemble";
import { RunCancelledError, Task, Tokens, definePlugin } from "agentensemble";
import { expect } from "chai";
import { echo, runToEnd, untilAborted } from "../../support/kernel-fixtures.js";
import { rejection } from "../../support/rejection.js";

/** The workflow PARTS, which executes a test's function with the ids of the tasks. */
function parts(execute: (run: Run, ids: readonly string[]) => Promise<unknown>): Plugin {
  const workflow = {
    name: "PARTS",
    execute: async (plan: Run["plan"], run: Run) => {
      await execute(
        run,
        plan.tasks.map(({ id }) => id),
      );
      return { raw: "done", taskOutputs: [] };
    },
  };
  return definePlugin({
    name: "parts",
    bind: (bind) => void bind.many(Tokens.WorkflowExecutor).toConstantValue(workflow),
  });
}

for (const inner of ["SEQUENTIAL", "PARALLEL"]) {
  describe(`a part that ${inner} runs`, () => {
    it("ends with the given signal, and the run continues", async () => {
      const controller = new AbortController();
      const reason = new RunCancelledError("this part is not needed any more");
      let seen: unknown;
      const waits = new Task({
        description: "Waits",
        handler: (ctx: TaskContext): Promise<string> => {
          setTimeout(() => controller.abort(reason), 1);
          ctx.signal.addEventListener("abort", () => void (seen = ctx.signal.reason));
          return untilAborted(ctx.signal);
        },
      });
      const after = echo("After");
      let ended: unknown;
      const plugin = parts(async (run, [first = "", second = ""]) => {
        ended = await rejection(run.runWorkflow(inner, [first], { signal: controller.signal }));
        await run.runTask(second);
      });
      const { output, error } = await runToEnd({
        tasks: [waits, after],
        workflow: "PARTS",
        plugins: [plugin],
      });
      expect(error).to.equal(undefined);
      expect([seen, ended]).to.deep.equal([reason, reason]);
      expect(output.getOutput(after)?.raw).to.equal("After");
    });

    it("starts nothing after that signal is aborted", async () => {
      let ended: unknown;
      const plugin = parts(async (run, ids) => {
        ended = await rejection(run.runWorkflow(inner, ids, { signal: AbortSignal.abort() }));
      });
      const { events } = await runToEnd({
        tasks: [echo("Never")],
        workflow: "PARTS",
        plugins: [plugin],
      });
      expect(ended).to.be.instanceOf(RunCancelledError);
      expect(events.some(({ type }) => type === "task_started")).to.equal(false);
    });

    it("passes revisions to their tasks, which nested parts inherit", async () => {
      const told: unknown[] = [];
      const task = new Task({
        name: "a",
        description: "A",
        handler: (ctx) => String(told.push(ctx.revision)),
      });
      const revision = { feedback: "mind the gap", previousOutput: "gap" };
      const o: SubPlanOptions = { revisions: new Map([["a", revision]]) };
      const nested = parts(async (run, ids) => run.runWorkflow("AROUND", ids, o));
      const around = definePlugin({
        name: "around",
        bind: (bind) =>
          void bind.many(Tokens.WorkflowExecutor).toConstantValue({
            name: "AROUND",
            execute: (plan, run) =>
              run.runWorkflow(
                inner,
                plan.tasks.map(({ id }) => id),
              ),
          }),
      });
      await runToEnd({
        tasks: [task, echo("Other")],
        workflow: "PARTS",
        plugins: [nested, around],
      });
      expect(told).to.deep.equal([revision]);
    });
  });
}
