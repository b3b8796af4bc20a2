import { Agent, Ensemble, Task, tool, ToolResult, Workflow } from "agentensemble";
import { ScriptedModel } from "agentensemble/testing";
import { ToolPipeline } from "agentensemble/tools";
import { expect } from "chai";
import { runToEnd } from "../support/kernel-fixtures.js";

/** The text that a model receives for the result of a tool. */
async function answerOf(execute: () => unknown): Promise<string> {
  const used = tool({ name: "it", description: "Does it", execute: execute as () => string });
  const model = new ScriptedModel([
    { toolCalls: [{ name: "it", arguments: { input: "x" } }] },
    "done",
  ]);
  const agent = new Agent({ role: "R", goal: "G", tools: [used], model });
  const { error } = await runToEnd({ tasks: [new Task({ description: "d", agent })] });
  expect(error).to.equal(undefined);
  const message = model.requests[1]?.messages.at(-1);
  return message?.role === "tool" ? message.content : "(none)";
}

describe("the result of a tool", () => {
  for (const [what, execute, text] of [
    ["a success of undefined", () => ToolResult.success(undefined), ""],
    ["a success of nothing", () => ToolResult.success(), ""],
    ["a success of null", () => ToolResult.success(null as never), ""],
    ["a success of a number", () => ToolResult.success(5 as never), "5"],
    ["a success of an object", () => ToolResult.success({ a: 1 } as never), '{"a":1}'],
    [
      "a failure of undefined",
      () => ToolResult.failure(undefined),
      "Error: Tool execution failed with no message",
    ],
  ] as const) {
    it(`may be ${what}`, async () => expect(await answerOf(execute)).to.equal(text));
  }

  for (const thrown of [undefined, null, Object.create(null) as unknown]) {
    it(`shows no internals if a tool throws ${thrown === undefined ? "undefined" : JSON.stringify(thrown)}`, async () => {
      const answer = await answerOf(() => {
        throw thrown;
      });
      expect(answer).to.include("unknown error");
      expect(answer).to.not.match(/undefined|null|object/);
    });
  }
});

describe("the count of tool calls", () => {
  const trim = tool({ name: "trim", description: "Trims", execute: (text) => text.trim() });
  const upper = tool({
    name: "upper",
    description: "Raises",
    execute: (text) => text.toUpperCase(),
  });
  const shout = ToolPipeline.of("shout", "Shouts", trim, upper);
  const asking = (...names: readonly string[]) => ({
    toolCalls: names.map((name) => ({ name, arguments: { input: "x" } })),
  });

  const teams: readonly (readonly [string, number, () => Ensemble])[] = [
    [
      "an agent that calls a pipeline",
      4,
      () =>
        new Ensemble({
          model: new ScriptedModel([asking("shout", "trim"), "done"]),
          tasks: [
            new Task({
              description: "d",
              agent: new Agent({ role: "R", goal: "G", tools: [shout, trim] }),
            }),
          ],
        }),
    ],
    [
      "a task whose handler is a pipeline",
      3,
      () => new Ensemble({ tasks: [new Task({ description: "d", handler: shout })] }),
    ],
    [
      "a pipeline within a pipeline",
      5,
      () => {
        const nested = ToolPipeline.of("nested", "Nests", shout, trim);
        return new Ensemble({ tasks: [new Task({ description: "d", handler: nested })] });
      },
    ],
    [
      "a tool that the model invents",
      2,
      () =>
        new Ensemble({
          model: new ScriptedModel([asking("none", "trim"), "done"]),
          tasks: [
            new Task({
              description: "d",
              agent: new Agent({ role: "R", goal: "G", tools: [trim] }),
            }),
          ],
        }),
    ],
    [
      "attempts that a guardrail refused, and a second task",
      7,
      () => {
        let attempts = 0;
        return new Ensemble({
          workflow: Workflow.SEQUENTIAL,
          model: new ScriptedModel([
            asking("shout"),
            "one",
            asking("shout"),
            "two",
            asking("trim"),
            "three",
          ]),
          tasks: [
            new Task({
              description: "d",
              guardrailRetries: 1,
              outputGuardrails: [() => ++attempts > 1 || { ok: false, reason: "again" }],
              agent: new Agent({ role: "R", goal: "G", tools: [shout] }),
            }),
            new Task({
              description: "e",
              agent: new Agent({ role: "S", goal: "G", tools: [trim] }),
            }),
          ],
        });
      },
    ],
  ];
  for (const [what, count, team] of teams) {
    it(`is equal for tasks and run: ${what}`, async () => {
      const output = await team().run();
      const ofTasks = output.taskOutputs.map(({ toolCallCount }) => toolCallCount);
      expect(ofTasks.reduce((sum, one) => sum + one, 0)).to.equal(count);
      expect(output.totalToolCalls).to.equal(count);
      expect(output.taskOutputs.map(({ metrics }) => metrics.toolCallCount)).to.deep.equal(ofTasks);
    });
  }
});
