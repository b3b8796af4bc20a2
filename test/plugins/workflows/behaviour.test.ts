import {
  AgentExecutionError,
  ExitEarlySignal,
  GuardrailResult,
  GuardrailViolationError,
  HookRejectedError,
  Task,
  TaskExecutionError,
  definePlugin,
  reject,
  replace,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { echo, failing, runToEnd, typesOf, waiting } from "../../support/kernel-fixtures.js";
import { SHAPES } from "./shapes.js";

const usage = { inputTokens: 10, outputTokens: 5 };

for (const { name, options } of SHAPES) {
  describe(`a task in ${name}`, () => {
    it("is refused by an input guardrail before a model is called", async () => {
      const model = new ScriptedModel([]);
      const task = new Task({
        description: "Guarded",
        inputGuardrails: [() => GuardrailResult.failure("not today")],
      });
      const { error } = await runToEnd({ ...options([task]), model });
      expect(error).to.be.instanceOf(TaskExecutionError);
      expect(GuardrailViolationError.find(error)?.violationMessage).to.equal("not today");
      expect(model.requests).to.have.length(0);
    });

    it("is repeated with the reason when an output guardrail refuses it", async () => {
      const model = new ScriptedModel(["far too long", "short"]);
      const task = new Task({
        description: "Guarded",
        guardrailRetries: 1,
        outputGuardrails: [
          ({ raw }) => (raw === "short" ? true : GuardrailResult.failure("be brief")),
        ],
      });
      const { output, error } = await runToEnd({ ...options([task]), model });
      expect(error).to.equal(undefined);
      expect(output.getOutput(task)?.raw).to.equal("short");
      expect(JSON.stringify(model.requests[1]?.messages))
        .to.include("be brief")
        .and.include("far too long");
      expect(output.trace.taskTraces.map(({ attempt }) => attempt)).to.deep.equal([1, 2]);
    });

    it("has its value read by its schema, including corrections", async () => {
      const model = new ScriptedModel(["no JSON", '{"n": 4}']);
      const task = new Task({ description: "Count", outputType: z.object({ n: z.number() }) });
      const { output } = await runToEnd({ ...options([task]), model });
      expect(output.getOutput(task)?.parsed).to.deep.equal({ n: 4 });
    });

    it("receives the outputs in its context", async () => {
      const first = echo("First");
      const second = new Task({
        description: "Second",
        context: [first],
        handler: (ctx) => `${ctx.getOutput(first).raw}, then second`,
      });
      const { output } = await runToEnd(options([first, second]));
      expect(output.raw).to.equal("First, then second");
      expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal([
        "First",
        "First, then second",
      ]);
      expect(output.exitReason).to.equal("COMPLETED");
    });

    it("has a start and an end among the events, without gaps", async () => {
      const { events } = await runToEnd(options([echo("First"), echo("Second")]));
      expect(events.map(({ seq }) => seq)).to.deep.equal(events.map((_, i) => i));
      expect(
        typesOf(
          events.filter(({ type }) => type.startsWith("task_") || type.startsWith("ensemble_")),
        ),
      ).to.deep.equal([
        "ensemble_started",
        ...["task_started", "task_completed", "task_started", "task_completed"],
        "ensemble_completed",
      ]);
    });

    it("ends the run if it fails, with the same form of error and all finished outputs", async () => {
      const first = echo("First");
      const broken = failing("Broken");
      const { error, output, events } = await runToEnd(options([first, broken, echo("Never")]));
      expect(error).to.be.instanceOf(TaskExecutionError);
      expect(AgentExecutionError.find(error)?.message).to.include("Broken is broken");
      expect(
        (error as TaskExecutionError).completedTaskOutputs.map(({ raw }) => raw),
      ).to.deep.equal(["First"]);
      expect(output.exitReason).to.equal("ERROR");
      expect(output.getOutput(first)?.raw).to.equal("First");
      expect(typesOf(events).filter((type) => type.startsWith("task_"))).to.deep.equal([
        "task_started",
        "task_completed",
        "task_started",
        "task_failed",
      ]);
      expect(typesOf(events).slice(-2)).to.deep.equal(["run_failed", "ensemble_completed"]);
    });

    it("has its calls counted in the totals of the run", async () => {
      const model = new ScriptedModel([
        { text: "One", usage },
        { text: "not JSON", usage },
        { text: "2", usage },
      ]);
      const { output } = await runToEnd({
        ...options([
          Task.of("Say one"),
          new Task({ description: "Say two", outputType: z.number() }),
        ]),
        model,
      });
      expect(output.metrics).to.include({
        llmCallCount: 3,
        inputTokens: 30,
        outputTokens: 15,
        unknownUsageCalls: 0,
      });
    });

    it("is aborted when the run is cancelled, and nothing starts after it", async () => {
      const controller = new AbortController();
      const started: string[] = [];
      const first = waiting("Waits", () => setTimeout(() => controller.abort(), 1));
      const second = new Task({
        description: "Never",
        handler: () => String(started.push("second")),
      });
      const { error, output } = await runToEnd(options([first, second]), {
        signal: controller.signal,
      });
      expect(error?.code).to.equal("AE_RUN_CANCELLED");
      expect(output.exitReason).to.equal("CANCELLED");
      expect(started).to.deep.equal([]);
    });

    it("is aborted at the time limit", async () => {
      const { error, output } = await runToEnd(options([waiting("Waits")]), { timeoutMs: 5 });
      expect(error?.code).to.equal("AE_RUN_TIMEOUT");
      expect(output.exitReason).to.equal("TIMEOUT");
    });

    it("fires the task hooks, which may change and refuse it", async () => {
      const pairs: string[] = [];
      const hooks = definePlugin({
        name: "hooks",
        apply: ({ hooks: { beforeTask, afterTask } }) => {
          beforeTask.tap({ name: "judge", lane: "policy" }, ({ task }) => {
            pairs.push(`before ${task.description}`);
            return task.description === "Forbidden" ? reject("no") : undefined;
          });
          afterTask.tap({ name: "change", lane: "transform" }, ({ task, outcome }) => {
            pairs.push(`after ${task.description} ${outcome}`);
            return outcome === "ok" ? replace({ raw: "changed" }) : undefined;
          });
        },
      });
      const first = echo("First");
      const { error, output } = await runToEnd({
        ...options([first, echo("Forbidden")]),
        plugins: [hooks],
      });
      expect(output.getOutput(first)?.raw).to.equal("changed");
      expect(HookRejectedError.find(error)?.reason).to.equal("no");
      expect(pairs).to.deep.equal([
        "before First",
        "after First ok",
        "before Forbidden",
        "after Forbidden rejected",
      ]);
    });

    it("can end the run early: finished outputs are kept and the run resolves", async () => {
      const first = echo("First");
      const leaving = new Task({
        description: "Leaves",
        handler: (): string => {
          throw new ExitEarlySignal("that is enough");
        },
      });
      const { error, output, events } = await runToEnd(options([first, leaving, echo("Never")]));
      expect(error).to.equal(undefined);
      expect(output.exitReason).to.equal("USER_EXIT_EARLY");
      expect(output.completedTasks.map(({ raw }) => raw)).to.deep.equal(["First"]);
      expect(typesOf(events).filter((type) => type === "task_started")).to.have.length(2);
    });

    it("is kept when a review ends the run after it, and nothing starts after it", async () => {
      const review = definePlugin({
        name: "review",
        apply: ({ hooks }) =>
          hooks.afterTask.tap({ name: "leave", lane: "review" }, () => {
            throw new ExitEarlySignal("seen enough", { timedOut: true });
          }),
      });
      const { error, output, events } = await runToEnd({
        ...options([echo("First"), echo("Never")]),
        plugins: [review],
      });
      expect(error).to.equal(undefined);
      expect(output.exitReason).to.equal("TIMEOUT");
      expect(output.completedTasks.map(({ raw }) => raw)).to.deep.equal(["First"]);
      expect(typesOf(events).filter((type) => type === "task_started")).to.have.length(1);
    });
  });
}
