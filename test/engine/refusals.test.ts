import type { Plan, Plugin, Run, WorkflowResult } from "agentensemble";
import {
  Agent,
  Ensemble,
  Kernel,
  Task,
  Tokens,
  answer,
  definePlugin,
  replace,
} from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { expect } from "chai";
import { z } from "zod";
import { rejection } from "../support/rejection.js";
import { echo, failure, runToEnd, scoped, tapping, waiting } from "../support/kernel-fixtures.js";
import { endLimitsAtOnce } from "../support/time.js";

/** A plugin with a workflow of the name OWN. */
const workflow = (execute: (plan: Plan, run: Run) => Promise<WorkflowResult>): Plugin =>
  definePlugin({
    name: "own",
    bind: (bind) =>
      void bind.many(Tokens.WorkflowExecutor).toConstantValue({ name: "OWN", execute }),
  });
const nothing: WorkflowResult = { raw: "", taskOutputs: [] };
const request = { messages: [{ role: "user" as const, content: "Help" }] };

describe("a kernel without the standard plugins", () => {
  it("executes no task without a task executor, and creates no trace without a trace builder", async () => {
    const kernel = new Kernel({
      plugins: [
        workflow(async (_plan, run) => {
          const output = await run.runTask("task-1");
          return { raw: output.raw, taskOutputs: [output] };
        }),
      ],
    });
    await kernel.boot();
    const ensemble = new Ensemble({ tasks: [echo("a")], workflow: "OWN", kernel });
    const error = await failure(ensemble.run());
    expect(error.cause).to.have.property("code", "AE_VALIDATION");
    expect(error.cause).to.have.property("hint").that.includes("TaskExecutor");
    expect(() => error.output?.trace).to.throw("TraceBuilder");
    await kernel.dispose();
  });

  it("warns of a capture mode with a folder if no plugin writes to folders", async () => {
    const mode = { name: "OWN", capturesMessages: false, capturesMemory: false };
    const capturing = definePlugin({
      name: "capturing",
      bind: (bind) =>
        void bind
          .many(Tokens.CaptureMode)
          .toConstantValue({ ...mode, parsesToolInput: false, exportsTo: "nowhere" }),
    });
    const kernel = new Kernel({ plugins: [workflow(async () => nothing), capturing] });
    await kernel.boot();
    const warnings: string[] = [];
    await new Ensemble({
      tasks: [echo("a")],
      workflow: "OWN",
      kernel,
      on: (event) => void (event.type === "run_warning" && warnings.push(event.message)),
    }).run({}, { captureMode: "OWN" });
    expect(warnings.join()).to.include("'nowhere'").and.include("FolderExporter");
    await kernel.dispose();
  });
});

describe("a workflow", () => {
  it("receives the id and the inputs of its run", async () => {
    let seen: unknown;
    const own = workflow(async (_plan, { id, inputs }) => ((seen = { id, inputs }), nothing));
    await runToEnd(
      { tasks: [echo("a")], workflow: "OWN", plugins: [own] },
      { runId: "mine" },
      { topic: "tea" },
    );
    expect(seen).to.deep.equal({ id: "mine", inputs: { topic: "tea" } });
  });

  it("starts no task before the tasks in its context are done", async () => {
    const first = echo("first");
    const refused: Error[] = [];
    const own = workflow(
      async (_plan, run) => (refused.push(await failure(run.runTask("task-2"))), nothing),
    );
    const { events } = await runToEnd({
      tasks: [first, echo("second", [first])],
      workflow: "OWN",
      plugins: [own],
    });
    expect(refused[0]?.cause).to.have.property("message").that.includes("not yet completed: first");
    expect(events.filter(({ type }) => type === "task_failed")).to.have.length(1);
  });

  it("can't define two tasks with the same name", async () => {
    const own = workflow(async (_plan, run) => {
      run.define(echo("a").with({ name: "twice" }));
      expect(() => run.define(echo("b").with({ name: "twice" }))).to.throw("'twice'");
      return nothing;
    });
    const { error } = await runToEnd({ tasks: [echo("x")], workflow: "OWN", plugins: [own] });
    expect(error).to.equal(undefined);
  });
});

describe("the scope of a task", () => {
  it("calls no model once the task is cancelled", async () => {
    const controller = new AbortController();
    const model = new ScriptedModel(["late"]);
    let refused: unknown;
    await runToEnd(
      {
        model,
        tasks: [
          scoped("deaf", async (scope) => {
            controller.abort();
            refused = await rejection(scope.chat(request, { purpose: "task" }));
          }),
        ],
      },
      { signal: controller.signal },
    );
    expect(refused).to.have.property("code", "AE_RUN_CANCELLED");
    expect(model.requests).to.deep.equal([]);
  });

  it("refuses a model call if there is no model", async () => {
    const { error, output } = await runToEnd({
      tasks: [
        scoped(
          "poor",
          async (scope) => (await scope.chat(request, { purpose: "task" })).message.content,
        ),
      ],
    });
    expect(error?.message).to.include("No LLM available for task 'poor'");
    expect(output.metrics.ledger).to.deep.equal([]);
  });

  it("counts the attempts of its task", async () => {
    const attempts: number[] = [];
    const task = scoped("again", async ({ attempt }) => void attempts.push(attempt)).with({
      guardrailRetries: 1,
      outputGuardrails: [() => ({ success: attempts.length > 1, message: "again" })],
    } as object);
    await runToEnd({ tasks: [task] });
    expect(attempts).to.deep.equal([1, 2]);
  });
});

describe("the answer of a tap", () => {
  it("is a text for a task", async () => {
    for (const value of [{}, null]) {
      const { error } = await runToEnd({
        tasks: [echo("a")],
        plugins: [
          tapping("odd", ({ hooks }) =>
            hooks.beforeTask.tap({ name: "odd", lane: "answer" }, () => answer(value as never)),
          ),
        ],
      });
      expect(error?.cause).to.have.property("code", "AE_VALIDATION");
      expect(error?.message).to.include("{ raw: string }");
    }
  });

  it("is a response for a delegation", async () => {
    const { error } = await runToEnd({
      agents: [new Agent({ role: "Writer", goal: "Write" })],
      model: new ScriptedModel([]),
      tasks: [
        scoped("boss", async (scope) => {
          await scope.delegate({
            taskId: "d1",
            agentRole: "Writer",
            taskDescription: "Write",
            scope: {},
            priority: "NORMAL",
            maxOutputRetries: 0,
            metadata: {},
          });
        }),
      ],
      plugins: [
        tapping("odd", ({ hooks }) =>
          hooks.beforeDelegation.tap({ name: "odd", lane: "answer" }, () =>
            answer("done" as never),
          ),
        ),
      ],
    });
    expect(error?.message).to.include("A delegation response must be").and.include("done");
  });
});

describe("an afterRun tap", () => {
  it("that never ends keeps the reason of a cancelled run, and causes a warning", async () => {
    const controller = new AbortController();
    let limits: ReturnType<typeof endLimitsAtOnce> | undefined;
    const hanging = tapping("hanging", ({ hooks }) => {
      hooks.afterRun.tap({ name: "hang" }, () => {
        limits = endLimitsAtOnce();
        return new Promise(() => undefined);
      });
    });
    try {
      const { error, events } = await runToEnd(
        { tasks: [waiting("a", () => controller.abort())], plugins: [hanging] },
        { signal: controller.signal },
      );
      expect(error).to.have.property("code", "AE_RUN_CANCELLED");
      expect(
        events.flatMap((event) => (event.type === "run_warning" ? [event.message] : [])),
      ).to.deep.equal(["afterRun: afterRun did not finish within 30000 ms"]);
    } finally {
      limits?.restore();
    }
  });
});

describe("the output of a task", () => {
  const schema = z.object({ city: z.string() });
  const typed = (): Task<z.infer<typeof schema>> =>
    new Task({ description: "typed", outputType: schema, handler: () => ({ city: "Rome" }) });

  it("returns its value by a matching schema, and refuses another schema", async () => {
    const agent = new Agent({ role: "r", goal: "g" });
    const plain = new Task({ description: "plain", agent });
    const { output } = await runToEnd({ model: new ScriptedModel(["x"]), tasks: [typed(), plain] });
    const [first, second] = output.taskOutputs;
    expect(first?.getParsedOutput(schema)).to.deep.equal({ city: "Rome" });
    expect(() => first?.getParsedOutput(z.string())).to.throw("type object");
    const slow = z.object({}).refine(async () => Promise.resolve(true));
    expect(() => first?.getParsedOutput(slow)).to.throw("validates synchronously");
    expect(() => second?.getParsedOutput(schema)).to.throw("No parsed output available");
  });

  it("is JSON with its metrics", async () => {
    const { output } = await runToEnd({ tasks: [typed()] });
    const json = JSON.parse(JSON.stringify(output.taskOutputs[0])) as object;
    expect(json).to.include({ taskId: "task-1", agentRole: "(deterministic)" });
    expect(json).to.have.property("parsed").that.deep.equals({ city: "Rome" });
    expect(json).to.have.property("metrics").that.includes({ totalTokens: 0 });
  });

  it("can't be replaced by a tap with a value other than a text", async () => {
    const { error } = await runToEnd({
      tasks: [echo("a")],
      plugins: [
        tapping("odd", ({ hooks }) =>
          hooks.afterTask.tap({ name: "odd", lane: "transform" }, () =>
            replace({ raw: 5 as never }),
          ),
        ),
      ],
    });
    expect(error?.message).to.include("replace({ raw }) must be a string, got: 5");
  });
});
