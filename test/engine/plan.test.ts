import type { EnsembleOptions, PlannedTask, Plugin, WorkflowExecutor } from "agentensemble";
import {
  Agent,
  Ensemble,
  PromptTemplateError,
  Task,
  Tokens,
  definePlugin,
  tool,
} from "agentensemble";
import { expect } from "chai";
import { echo, failure, runToEnd } from "../support/kernel-fixtures.js";

/** A workflow that shows its plan and runs it in order. */
function showing(shown: (tasks: readonly PlannedTask[]) => void, name = "SHOWING"): Plugin {
  const workflow: WorkflowExecutor = {
    name,
    async execute(plan, run) {
      shown(plan.tasks);
      const taskOutputs = [];
      for (const { id } of plan.tasks) taskOutputs.push(await run.runTask(id));
      return { raw: taskOutputs.at(-1)?.raw ?? "", taskOutputs };
    },
  };
  return definePlugin({
    name: `workflow-${name}`,
    bind: (bind) => void bind.many(Tokens.WorkflowExecutor).toConstantValue(workflow),
  });
}

async function planOf(
  options: EnsembleOptions,
  inputs: Readonly<Record<string, unknown>> = {},
): Promise<readonly PlannedTask[]> {
  let tasks: readonly PlannedTask[] = [];
  await runToEnd(
    { ...options, workflow: "SHOWING", plugins: [showing((shown) => (tasks = shown))] },
    {},
    inputs,
  );
  return tasks;
}

const refused = async (
  options: EnsembleOptions,
  inputs: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly code: string; readonly message: string }> => {
  const ensemble = new Ensemble(options);
  const { code, message } = await failure(ensemble.run(inputs));
  const explained = await failure(ensemble.explain(inputs));
  expect({ code: explained.code, message: explained.message }).to.deep.equal({ code, message });
  await ensemble.dispose();
  return { code, message };
};

describe("the plan", () => {
  it("assigns each task an id: its name, otherwise its position", async () => {
    const tasks = await planOf({
      tasks: [
        echo("a"),
        new Task({ name: "named", description: "b", handler: () => "b" }),
        echo("c"),
      ],
    });
    expect(tasks.map(({ id }) => id)).to.deep.equal(["task-1", "named", "task-3"]);
    expect(tasks).to.be.frozen;
  });

  it("fills templates in descriptions and expected outputs only", async () => {
    const agent = new Agent({ role: "{topic} expert", goal: "{topic}" });
    const task = new Task({
      name: "{topic}",
      description: "On {topic}",
      expectedOutput: "{{topic}}: {topic}",
      agent,
    });
    const [planned] = await planOf(
      {
        model: {
          provider: "p",
          modelId: "m",
          chat: async () => ({ message: { role: "assistant", content: "" }, finishReason: "stop" }),
        },
        tasks: [task],
      },
      { topic: "tea" },
    );
    expect(planned).to.deep.include({ id: "{topic}" });
    expect(planned?.task).to.include({ description: "On tea", expectedOutput: "{topic}: tea" });
    expect(planned?.agent?.role).to.equal("{topic} expert");
    expect(task.description).to.equal("On {topic}");
  });

  it("prefers inputs of the run to those of the ensemble, and ignores unused inputs", async () => {
    const [planned] = await planOf(
      { tasks: [echo("{a} {b}")], inputs: { a: 1, b: 1, c: 1 } },
      { b: 2, d: 2 },
    );
    expect(planned?.task.description).to.equal("1 2");
  });

  it("lists the context of each task by id, with any texts", async () => {
    const twins = [echo("same"), echo("same")];
    const last = echo("last", [...twins].reverse());
    const tasks = await planOf({ tasks: [...twins, last] });
    expect(tasks.map(({ contextIds }) => contextIds)).to.deep.equal([[], [], ["task-2", "task-1"]]);
  });

  it("distinguishes outputs by the user's task objects", async () => {
    const tasks = [echo("same"), echo("same"), echo("{x}")];
    const { output } = await runToEnd({ tasks }, {}, { x: "filled" });
    expect(tasks.map((task) => output.getOutput(task)?.taskId)).to.deep.equal([
      "task-1",
      "task-2",
      "task-3",
    ]);
    expect(output.getOutput(echo("same"))).to.equal(undefined);
  });
});

describe("planning refuses", () => {
  it("an ensemble without tasks", async () => {
    const { code, message } = await refused({ tasks: [] });
    expect(code).to.equal("AE_VALIDATION");
    expect(message).to.match(/^Ensemble must have at least one task/);
  });

  it("a task that is listed twice", async () => {
    const task = echo("once");
    expect((await refused({ tasks: [task, task] })).message)
      .to.include("'once'")
      .and.include("twice");
  });

  it("two tasks with the same name, and a name that is another task's position", async () => {
    const named = (name: string): Task => new Task({ name, description: "x", handler: () => "x" });
    expect((await refused({ tasks: [named("a"), named("a")] })).message).to.include(
      "Duplicate task name 'a'",
    );
    expect((await refused({ tasks: [echo("x"), named("task-1")] })).message).to.include(
      "Duplicate task name 'task-1'",
    );
  });

  it("a context task that is not in the list", async () => {
    const outside = echo("outside");
    expect((await refused({ tasks: [echo("inside", [outside])] })).message).to.equal(
      "Task 'inside' references context task 'outside' which is not in the ensemble's task list. All context tasks must be included in the ensemble before they can be referenced.",
    );
  });

  it("a context task that is later in the list, in SEQUENTIAL", async () => {
    const later = echo("later");
    const { message } = await refused({
      tasks: [echo("sooner", [later]), later],
      workflow: "SEQUENTIAL",
    });
    expect(message).to.match(
      /^Task 'sooner' references context task 'later' which appears later in the task list/,
    );
  });

  it("missing template variables, listed together in the order of appearance", async () => {
    const tasks = [
      echo("{b} {a}"),
      new Task({ description: "{a}", expectedOutput: "{c}{b}", handler: () => "x" }),
    ];
    const ensemble = new Ensemble({ tasks });
    const error = await failure(ensemble.run({ d: 1 }));
    expect(error).to.be.instanceOf(PromptTemplateError);
    expect(error).to.deep.include({
      code: "AE_PROMPT_TEMPLATE",
      missingVariables: ["b", "a", "c"],
      template: "{b} {a}",
    });
    expect(error.message).to.equal(
      "Missing template variables: [b, a, c]. Provide them in ensemble.run(inputs). Template: '{b} {a}'",
    );
    await ensemble.dispose();
  });

  it("a missing variable of a long template, whose first hundred characters are shown", async () => {
    const { message } = await refused({ tasks: [echo(`{x}${"y".repeat(200)}`)] });
    expect(message).to.equal(
      `Missing template variables: [x]. Provide them in ensemble.run(inputs). Template: '{x}${"y".repeat(97)}...'`,
    );
  });

  it("an unknown workflow, and lists the known workflows", async () => {
    const { code, message } = await refused({ tasks: [echo("x")], workflow: "PARALEL" });
    expect(code).to.equal("AE_VALIDATION");
    expect(message)
      .to.include("'PARALEL'")
      .and.include("SEQUENTIAL")
      .and.include("Did you mean 'PARALLEL'");
  });

  it("an unknown prompt name", async () => {
    const { message } = await refused({ tasks: [echo("x")], prompts: { "agent.sistem": "x" } });
    expect(message).to.include("'agent.sistem'").and.include("Did you mean 'agent.system'");
  });

  it("a tool of an agent with the name of a tool that all agents receive", async () => {
    const same = tool({ name: "same", description: "d", execute: () => "x" });
    const shared = definePlugin({
      name: "shared",
      bind: (bind) => void bind.many(Tokens.Tool).toConstantValue(same),
    });
    const tasks = [
      new Task({ description: "Say", agent: new Agent({ role: "r", goal: "g", tools: [same] }) }),
    ];
    expect(
      (await refused({ tasks, model: "offline:extractive", plugins: [shared] })).message,
    ).to.include("Duplicate tool name 'same'");
  });
});

describe("the workflow", () => {
  const used = async (options: EnsembleOptions): Promise<unknown> =>
    (await runToEnd(options)).events.find(({ type }) => type === "ensemble_started");

  it("is SEQUENTIAL without context and PARALLEL with context, unless the ensemble names a workflow", async () => {
    const a = echo("a");
    expect(await used({ tasks: [a, echo("b")] })).to.have.property("workflow", "SEQUENTIAL");
    expect(await used({ tasks: [a, echo("b", [a])] })).to.have.property("workflow", "PARALLEL");
    expect(await used({ tasks: [a, echo("b", [a])], workflow: "SEQUENTIAL" })).to.have.property(
      "workflow",
      "SEQUENTIAL",
    );
    expect(await used({ tasks: [a], workflow: "PARALLEL" })).to.have.property(
      "workflow",
      "PARALLEL",
    );
  });

  it("may be that of a plugin, which replaces a built-in workflow of the same name", async () => {
    let shown = 0;
    await runToEnd({
      tasks: [echo("a")],
      workflow: "SEQUENTIAL",
      plugins: [showing(() => shown++, "OTHER")],
    });
    expect(shown).to.equal(0);
    for (const name of ["OTHER", "SEQUENTIAL"])
      await runToEnd({
        tasks: [echo("a")],
        workflow: name,
        plugins: [showing(() => shown++, name)],
      });
    expect(shown).to.equal(2);
  });
});
