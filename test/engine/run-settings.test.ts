import type { Plugin, RunInfo, WorkflowResult } from "agentensemble";
import { Agent, Ensemble, Kernel, Loop, Task, Tokens, definePlugin } from "agentensemble";
import { ScriptedModel, testKernel } from "agentensemble/testing";
import { expect } from "chai";
import {
  echo,
  failing,
  failure,
  runToEnd,
  scoped,
  tapping,
  waiting,
} from "../support/kernel-fixtures.js";
import { pause } from "../support/time.js";

const usage = { inputTokens: 10, outputTokens: 1 };
const spending = (): ScriptedModel =>
  new ScriptedModel([{ text: "spent", usage }], { onExhausted: "repeat-last" });
const say = (): Task =>
  new Task({ description: "Say", agent: new Agent({ role: "r", goal: "g" }) });

describe("a run inside a task", () => {
  it("is independent unless it is joined", async () => {
    const inner = new Ensemble({ model: spending(), tasks: [say()] });
    const { output } = await runToEnd({
      tasks: [new Task({ description: "outer", handler: async () => (await inner.run()).raw })],
    });
    expect(output.raw).to.equal("spent");
    expect(output.metrics.ledger).to.deep.equal([]);
  });

  it("counts in the outer ledger and keeps its own ledger, with `parent`", async () => {
    const inner = new Ensemble({ model: spending(), tasks: [say()] });
    let own = 0;
    const outer = new Task({
      description: "outer",
      handler: async (ctx) => (
        (own = (await inner.run({}, { parent: ctx.run })).metrics.totalTokens),
        "x"
      ),
    });
    const { output } = await runToEnd({ model: spending(), tasks: [outer, say()] });
    expect(own).to.equal(11);
    expect(output.metrics).to.include({ totalTokens: 22, llmCallCount: 2 });
    expect(new Set(output.metrics.ledger.map(({ runId }) => runId)).size).to.equal(2);
  });

  it("counts in every outer ledger, with `parent`", async () => {
    const joined = (name: string, inner: Ensemble): Task =>
      new Task({
        description: name,
        handler: async (ctx) => (await inner.run({}, { parent: ctx.run })).raw,
      });
    const innermost = new Ensemble({ model: spending(), tasks: [say()] });
    const middle = new Ensemble({ tasks: [joined("middle", innermost)] });
    const { output } = await runToEnd({ tasks: [joined("outer", middle)] });
    expect(output.metrics).to.include({ totalTokens: 11, llmCallCount: 1 });
    expect(output.metrics.ledger).to.have.length(1);
  });

  it("ends with the outer run, with `parent`", async () => {
    const controller = new AbortController();
    const ended: unknown[] = [];
    const inner = new Ensemble({ tasks: [waiting("inner", () => controller.abort())] });
    const outer = new Task({
      description: "outer",
      handler: async (ctx): Promise<string> => {
        ended.push(await failure(inner.run({}, { parent: ctx.run })));
        return "x";
      },
    });
    const { error } = await runToEnd({ tasks: [outer] }, { signal: controller.signal });
    expect(error).to.have.property("code", "AE_RUN_CANCELLED");
    expect(ended[0]).to.have.property("code", "AE_RUN_CANCELLED");
  });

  it("can end without ending the outer one", async () => {
    const inner = new Ensemble({ tasks: [waiting("inner")] });
    const outer = new Task({
      description: "outer",
      handler: async (ctx) =>
        (await inner.run({}, { parent: ctx.run, timeoutMs: 5, throwOnError: false })).exitReason,
    });
    expect(
      (await runToEnd({ tasks: [outer, echo("next")] })).output.taskOutputs.map(({ raw }) => raw),
    ).to.deep.equal(["TIMEOUT", "next"]);
  });

  it("refuses a parent that is not a run", async () => {
    const parent = { id: "x", inputs: {}, tags: {} } as RunInfo; // what JavaScript may pass
    expect(
      await failure(new Ensemble({ tasks: [echo("x")] }).run({}, { parent })),
    ).to.have.property("code", "AE_VALIDATION");
  });
});

describe("the data of a run", () => {
  it("are its tags, in every usage record and the trace", async () => {
    const tags = { customer: "42" };
    const { output } = await runToEnd({ model: spending(), tasks: [say()] }, { tags });
    tags.customer = "43";
    expect(output.metrics.ledger[0]?.tags).to.deep.equal({ customer: "42" });
    expect(JSON.stringify(output.trace.metadata)).to.include("42");
  });

  it("are its id, given or generated", async () => {
    const { output, events } = await runToEnd({ tasks: [echo("x")] }, { runId: "mine" });
    expect([output.runId, events[0]?.runId, output.trace.ensembleId]).to.deep.equal([
      "mine",
      "mine",
      "mine",
    ]);
    const first = await runToEnd({ tasks: [echo("x")] });
    expect(first.output.runId).to.match(/^[0-9a-f-]{36}$/);
  });

  it("are its inputs, as they were at the start", async () => {
    const inputs: Record<string, unknown> = { topic: "tea" };
    let ctxInputs: unknown;
    const task = new Task({
      description: "{topic}",
      handler: async (ctx) => {
        inputs["topic"] = "coffee";
        await pause();
        ctxInputs = ctx.inputs;
        return ctx.description;
      },
    });
    const { output } = await runToEnd({ tasks: [task], inputs: { more: 1 } }, {}, inputs);
    expect(output.raw).to.equal("tea");
    expect(ctxInputs).to.deep.equal({ topic: "tea", more: 1 });
    expect(ctxInputs).to.be.frozen;
  });

  it("are separate for overlapping runs of one ensemble", async () => {
    const task = new Task({
      description: "{n}",
      handler: async (ctx) => (await pause(Number(ctx.description) % 3), ctx.description),
    });
    const ensemble = new Ensemble({
      tasks: [
        task,
        new Task({
          description: "again {n}",
          context: [task],
          handler: (ctx) => ctx.contextOutputs[0]?.raw ?? "",
        }),
      ],
    });
    const outputs = await Promise.all(Array.from({ length: 20 }, (_, n) => ensemble.run({ n })));
    expect(outputs.map(({ raw }) => raw)).to.deep.equal(outputs.map((_, n) => String(n)));
    await ensemble.dispose();
  });

  it("include a warning about options in the place of inputs", async () => {
    const { events } = await runToEnd(
      { tasks: [echo("x")] },
      {},
      { signal: new AbortController().signal },
    );
    expect(
      events
        .filter((event) => event.type === "run_warning")
        .map(({ message }) => message)
        .join(),
    ).to.include("second argument");
    expect(events[0]?.type).to.equal("ensemble_started");
  });

  it("include a warning about options of a task that have no effect", async () => {
    const task = new Task({
      description: "Say",
      agent: new Agent({ role: "r", goal: "g" }),
      maxIterations: 3,
    });
    const { events } = await runToEnd({ model: spending(), tasks: [task] });
    expect(
      events
        .filter((event) => event.type === "run_warning")
        .map(({ message }) => message)
        .join(),
    ).to.include("maxIterations");
  });
});

describe("a workflow of a plugin", () => {
  const returning = (result: unknown): Plugin =>
    definePlugin({
      name: "odd",
      bind: (bind) =>
        void bind
          .many(Tokens.WorkflowExecutor)
          .toConstantValue({ name: "ODD", execute: async () => result as WorkflowResult }),
    });

  it("that returns no result causes an error that shows the returned value", async () => {
    const made = { taskId: "x", raw: "made up" };
    for (const result of [
      undefined,
      null,
      "text",
      {},
      { raw: 1, taskOutputs: [] },
      { raw: "", taskOutputs: "x" },
      { raw: "", taskOutputs: [made] },
      { raw: "", taskOutputs: [], exitReason: "DONE" },
    ]) {
      const { error, output } = await runToEnd({
        tasks: [echo("a")],
        workflow: "ODD",
        plugins: [returning(result)],
      });
      expect(error, JSON.stringify(result)).to.include({
        code: "AE_PLUGIN",
        plugin: "ODD",
        hook: "execute",
      });
      expect(output.exitReason).to.equal("ERROR");
    }
  });

  it("that throws causes an error with the thrown value as its cause", async () => {
    const cause = new TypeError("no");
    const throwing = definePlugin({
      name: "odd",
      bind: (bind) =>
        void bind.many(Tokens.WorkflowExecutor).toConstantValue({
          name: "ODD",
          execute: () => {
            throw cause;
          },
        }),
    });
    const { error } = await runToEnd({ tasks: [echo("a")], workflow: "ODD", plugins: [throwing] });
    expect(error).to.include({ code: "AE_PLUGIN", cause });
  });

  it("that requests an unknown task receives a rejection with the known names", async () => {
    let rejected: unknown;
    const asking = definePlugin({
      name: "asking",
      bind: (bind) =>
        void bind.many(Tokens.WorkflowExecutor).toConstantValue({
          name: "ASKING",
          async execute(_plan, run) {
            const asked = run.runTask("task-2");
            rejected = await failure(asked);
            const output = await run.runTask("task-1");
            return { raw: output.raw, taskOutputs: [output] };
          },
        }),
    });
    await runToEnd({ tasks: [echo("a")], workflow: "ASKING", plugins: [asking] });
    expect(rejected).to.have.property("code", "AE_VALIDATION");
    expect((rejected as Error).message)
      .to.include("'task-2'")
      .and.include("task-1");
  });

  it("may run a part of the plan with another workflow", async () => {
    const half = definePlugin({
      name: "half",
      bind: (bind) =>
        void bind.many(Tokens.WorkflowExecutor).toConstantValue({
          name: "HALF",
          execute: (plan, run) =>
            run.runWorkflow(
              "PARALLEL",
              plan.tasks.slice(0, 2).map(({ id }) => id),
            ),
        }),
    });
    const { output } = await runToEnd({
      tasks: [echo("a"), echo("b"), echo("c")],
      workflow: "HALF",
      plugins: [half],
    });
    expect(output.taskOutputs.map(({ raw }) => raw)).to.deep.equal(["a", "b"]);
  });

  it("receives a loop in a part of the plan only if the part contains the complete loop", async () => {
    const seen: unknown[] = [];
    const parts = definePlugin({
      name: "parts",
      bind: (bind) => {
        bind.many(Tokens.WorkflowExecutor).toConstantValue({
          name: "PARTS",
          execute: async (plan, run) => {
            const ids = plan.tasks.map(({ id }) => id);
            await run.runWorkflow("NOTE", ids);
            return run.runWorkflow("NOTE", ids.slice(0, 1));
          },
        });
        bind.many(Tokens.WorkflowExecutor).toConstantValue({
          name: "NOTE",
          execute: async ({ tasks, loops }) => {
            const ofLoops = tasks.map(({ group }) => group !== undefined);
            seen.push([loops.map(({ name }) => name), ofLoops]);
            return { raw: "noted", taskOutputs: [] };
          },
        });
      },
    });
    const body = [echo("a"), echo("b")];
    const { error } = await runToEnd({
      loops: [new Loop({ name: "again", tasks: body, maxIterations: 2 })],
      workflow: "PARTS",
      plugins: [parts],
    });
    expect(error).to.equal(undefined);
    expect(seen).to.deep.equal([
      [["again"], [true, true]],
      [[], [false]],
    ]);
  });
});

describe("a task that is added during a run", () => {
  it("receives an id below its parent's, in the order of the requests, and keeps its texts", async () => {
    const ids: string[] = [];
    const parent = scoped("parent", async (scope) => {
      for (const text of ["{not} a template", "b"]) ids.push(scope.define(echo(text)));
      ids.push(scope.define(echo("{topic}"), { template: true }));
      const outputs = await Promise.all(ids.map((id) => scope.runTask(id)));
      return outputs.map(({ raw }) => raw).join("|");
    });
    const { output } = await runToEnd({ tasks: [parent] }, {}, { topic: "tea" });
    expect(ids).to.deep.equal(["task-1.1", "task-1.2", "task-1.3"]);
    expect(output.raw).to.equal("{not} a template|b|tea");
  });

  it("is in the trace with its parent, and fails like any other task", async () => {
    const parent = scoped(
      "parent",
      async (scope) => (await failure(scope.runTask(scope.define(failing("child"))))).code,
    );
    const { output } = await runToEnd({ tasks: [parent] });
    expect(output.raw).to.equal("AE_TASK_EXECUTION");
  });
});

describe("the purpose of a task and whether it is internal", () => {
  const judging = definePlugin({
    name: "judging",
    bind: (bind) =>
      void bind.many(Tokens.WorkflowExecutor).toConstantValue({
        name: "JUDGING",
        async execute(plan, run) {
          const work = await run.runTask("task-1");
          const judge = new Task({ description: "Judge" });
          const id = run.define(judge, { id: "judge", purpose: "review", internal: true });
          await run.runTask(id);
          throw new Error(`done with ${work.raw}`);
        },
      }),
  });

  it("are set by the workflow that adds it: usage records have the purpose, outputs omit it", async () => {
    const { output } = await runToEnd({
      tasks: [new Task({ description: "Work" })],
      workflow: "JUDGING",
      model: new ScriptedModel(["work", "verdict"]),
      plugins: [judging],
    });
    expect(output.metrics.ledger.map(({ taskId, purpose }) => [taskId, purpose])).to.deep.equal([
      ["task-1", "task"],
      ["judge", "review"],
    ]);
    expect(output.taskOutputs.map(({ taskId }) => taskId)).to.deep.equal(["task-1"]);
  });
});

describe("an agent that is created from a description", () => {
  const synthesizer = (
    make: () => unknown,
    usesModel = false,
  ): Parameters<typeof runToEnd>[0]["agentSynthesizer"] => ({
    usesModel,
    synthesize: make as () => Agent,
  });

  it("is created once per task and run", async () => {
    let made = 0;
    const agentSynthesizer = synthesizer(() => (made++, new Agent({ role: "Made", goal: "g" })));
    const task = new Task({
      description: "Say",
      guardrailRetries: 1,
      outputGuardrails: [({ raw }) => ({ ok: raw === "two", reason: "no" })],
    });
    const { output } = await runToEnd({
      model: new ScriptedModel(["one", "two"]),
      tasks: [task],
      agentSynthesizer,
    });
    expect([output.raw, made, output.taskOutputs[0]?.agentRole]).to.deep.equal(["two", 1, "Made"]);
  });

  it("has the model calls counted that create it", async () => {
    const agentSynthesizer: Parameters<typeof runToEnd>[0]["agentSynthesizer"] = {
      usesModel: true,
      synthesize: async (_task, { model }) =>
        new Agent({
          role: (await model.chat({ messages: [{ role: "user", content: "Who?" }] })).message
            .content,
          goal: "g",
        }),
    };
    const { output } = await runToEnd({
      model: new ScriptedModel([
        { text: "Poet", usage },
        { text: "verse", usage },
      ]),
      tasks: [new Task({ description: "Say" })],
      agentSynthesizer,
    });
    expect(output.taskOutputs[0]?.agentRole).to.equal("Poet");
    expect(output.metrics.ledger.map(({ purpose }) => purpose)).to.deep.equal([
      "synthesis",
      "task",
    ]);
    expect(output.metrics.totalTokens).to.equal(22);
  });

  it("must be an agent", async () => {
    for (const made of [undefined, null, {}]) {
      const { error } = await runToEnd({
        model: spending(),
        tasks: [new Task({ description: "Say" })],
        agentSynthesizer: synthesizer(() => made),
      });
      expect(error?.cause).to.have.property("code", "AE_VALIDATION");
    }
  });

  it("fails its task if the synthesizer throws no value", async () => {
    const { error, events } = await runToEnd({
      model: spending(),
      tasks: [new Task({ description: "Say" })],
      agentSynthesizer: synthesizer(() => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- the very mistake
        throw undefined;
      }),
    });
    expect(error?.message).to.equal("Task failed: Say: unknown error");
    expect(events.some(({ type }) => type === "task_failed")).to.equal(true);
  });
});

describe("Ensemble.explain", () => {
  it("shows the first prompts without calling anything", async () => {
    const model = new ScriptedModel([]);
    let taps = 0;
    const first = new Task({
      description: "Research {topic}",
      agent: new Agent({ role: "Researcher", goal: "Find facts" }),
    });
    const ensemble = new Ensemble({
      model,
      tasks: [first, new Task({ description: "Write about it", context: [first] }), echo("c")],
      plugins: [tapping("t", ({ hooks }) => hooks.beforeTask.tap(() => void taps++))],
    });
    const explanation = await ensemble.explain({ topic: "tea" });
    expect(explanation.workflow).to.equal("PARALLEL");
    expect(
      explanation.tasks.map(({ taskId, agentRole, dependsOn }) => [taskId, agentRole, dependsOn]),
    ).to.deep.equal([
      ["task-1", "Researcher", []],
      ["task-2", "Writer", ["task-1"]],
      ["task-3", "(deterministic)", []],
    ]);
    expect(explanation.tasks[0]?.userPrompt).to.include("Research tea");
    expect(explanation.tasks[1]?.userPrompt).to.include("[output of task-1]");
    expect(explanation.estimatedInputTokens).to.equal(
      explanation.tasks.reduce((sum, task) => sum + task.estimatedInputTokens, 0),
    );
    expect(explanation.estimatedInputTokens).to.be.greaterThan(10);
    expect([model.requests.length, taps]).to.deep.equal([0, 0]);
    await ensemble.dispose();
  });

  it("marks agents that a model will create, and creates none", async () => {
    const agentSynthesizer = {
      usesModel: true,
      synthesize: (): never => {
        throw new Error("called");
      },
    };
    const ensemble = new Ensemble({
      model: new ScriptedModel([]),
      tasks: [new Task({ description: "Say" })],
      agentSynthesizer,
    });
    expect((await ensemble.explain()).tasks[0]).to.include({
      synthesizedByModel: true,
      agentRole: "(synthesized)",
    });
    await ensemble.dispose();
  });

  it("allows no costs of a synthesizer that does not declare them", async () => {
    const model = new ScriptedModel(["spent"]);
    const sly = {
      synthesize: async (
        _task: unknown,
        o: { readonly model: { chat(request: { messages: [] }): Promise<unknown> } },
      ) => (await o.model.chat({ messages: [] }), new Agent({ role: "r", goal: "g" })),
    };
    const ensemble = new Ensemble({
      model,
      tasks: [new Task({ description: "Say" })],
      agentSynthesizer: sly,
    });
    expect((await failure(ensemble.explain())).message).to.include("explain()");
    expect(model.requests).to.deep.equal([]);
    await ensemble.dispose();
  });
});

describe("testKernel", () => {
  it("produces identical traces in repeated runs", async () => {
    const traces: string[] = [];
    for (let i = 0; i < 2; i++) {
      const kernel = testKernel();
      const ensemble = new Ensemble({ kernel, model: spending(), tasks: [say(), echo("b")] });
      const outputs = [await ensemble.run(), await ensemble.run()];
      expect(outputs.map(({ runId }) => runId)).to.deep.equal(["run-1", "run-2"]);
      traces.push(outputs.map(({ trace }) => trace.toJson()).join("\n"));
      await kernel.dispose();
    }
    expect(traces[0]).to.equal(traces[1]);
    expect(traces[0]).to.include("2026-01-01T00:00:00");
  });

  it("counts the ids of requests and instances separately from those of runs", async () => {
    const kernel = testKernel();
    const ensemble = new Ensemble({ kernel, tasks: [echo("a")] });
    await ensemble.run();
    const ids = kernel.container.get(Tokens.IdGenerator);
    expect([ids.next("request"), ids.next("instance"), ids.next("request")]).to.deep.equal([
      "request-1",
      "instance-1",
      "request-2",
    ]);
    expect((await ensemble.run()).runId).to.equal("run-2");
    await kernel.dispose();
  });

  it("accepts plugins, including those that replace standard plugins by name", async () => {
    const kernel = testKernel([definePlugin({ name: "workflow-sequential" }), { name: "more" }]);
    expect((await failure(new Ensemble({ kernel, tasks: [echo("a")] }).run())).message).to.include(
      "Unknown workflow 'SEQUENTIAL'",
    );
    expect(kernel).to.be.instanceOf(Kernel);
    await kernel.dispose();
  });
});
