import { expect } from "chai";
import type { AnyTool } from "../../../../src/contracts/tool.js";
import type { Step } from "../../../../src/plugins/testing/index.js";
import type { FakeScope, FakeScopeOptions } from "../../../support/fake-scope.js";
import type { ExecutorResult } from "../../../../src/contracts/executors.js";
import { Agent } from "../../../../src/contracts/agent.js";
import {
  ExitEarlySignal,
  MaxIterationsExceededError,
  ToolConfigurationError,
} from "../../../../src/contracts/errors.js";
import { Task } from "../../../../src/contracts/task.js";
import { ToolResult } from "../../../../src/contracts/tool-result.js";
import { ReactExecutor } from "../../../../src/plugins/agents/react/react-executor.js";
import { ScriptedModel } from "../../../../src/plugins/testing/index.js";
import { failure, fakeScope, rejection, taskCall } from "../../../support/fake-scope.js";

const task = new Task({ description: "Use the tools" });
const STOP =
  "STOP: Maximum tool iterations (2) reached. You must provide your best final answer now based on information gathered so far.";

function wants(...names: readonly string[]): Step {
  return { toolCalls: names.map((name) => ({ name, arguments: { input: name } })) };
}

function named(name: string, execute: AnyTool["execute"], sequential = false): AnyTool {
  return { name, description: name, sequential, execute };
}

interface Outcome {
  readonly scope: FakeScope;
  readonly model: ScriptedModel;
  readonly result: Promise<ExecutorResult>;
}

function start(
  tools: readonly AnyTool[],
  steps: readonly Step[],
  o: FakeScopeOptions & { readonly maxIterations?: number } = {},
): Outcome {
  const model = new ScriptedModel(steps);
  const scope = fakeScope({ model, ...o });
  const agent = new Agent({ role: "R", goal: "G", tools, maxIterations: o.maxIterations });
  return { scope, model, result: new ReactExecutor().execute(taskCall(task, { agent }), scope) };
}

function toolMessages(
  model: ScriptedModel,
): { readonly content: string; readonly isError: boolean }[] {
  const messages = model.requests.at(-1)?.messages ?? [];
  return messages.flatMap((message) =>
    message.role === "tool"
      ? [{ content: message.content, isError: message.isError === true }]
      : [],
  );
}

/** A tool that records its start and end, and takes a few turns of the event loop. */
function slow(name: string, log: string[], sequential = false): AnyTool {
  const execute = async (): Promise<string> => {
    log.push(`${name}+`);
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
    log.push(`${name}-`);
    return name;
  };
  return named(name, execute, sequential);
}

describe("the tool loop", () => {
  const texts: readonly (readonly [string, AnyTool["execute"], string, boolean])[] = [
    ["an unchanged output", () => "found", "found", false],
    [
      "a failed result as an error",
      () => ToolResult.failure("not there"),
      "Error: not there",
      true,
    ],
    [
      "a tool error without a message",
      () => Promise.reject(new Error("")),
      "Tool error: Tool execution failed with no message",
      true,
    ],
    [
      "a thrown value as a tool error",
      () => Promise.reject(new Error("boom")),
      "Tool error: boom",
      true,
    ],
    ["an empty output as empty text", () => "", "", false],
  ];
  for (const [name, execute, content, isError] of texts) {
    it(`informs the model: ${name}`, async () => {
      const { model, result } = start([named("t", execute)], [wants("t"), "Done"]);
      expect(await result).to.deep.equal({ raw: "Done", toolCallCount: 1 });
      expect(toolMessages(model)).to.deep.equal([{ content, isError }]);
    });
  }

  it("reports an unknown tool to the model", async () => {
    const { model, result } = start([named("t", () => "")], [wants("other"), "Done"]);
    await result;
    expect(toolMessages(model)).to.deep.equal([
      { content: "Error: Unknown tool 'other'", isError: true },
    ]);
  });

  it("appends the model's message and one answer per call, in the order of the calls", async () => {
    const log: string[] = [];
    const quick = named("quick", () => {
      log.push("quick");
      return "quick";
    });
    const { model, result } = start(
      [slow("slow", log), quick],
      [wants("slow", "quick", "slow"), "Done"],
    );
    expect((await result).toolCallCount).to.equal(3);
    expect(toolMessages(model).map(({ content }) => content)).to.deep.equal([
      "slow",
      "quick",
      "slow",
    ]);
    expect(log.slice(0, 3)).to.deep.equal(["slow+", "quick", "slow+"]);
    const [, , assistant, first] = model.requests[1]?.messages ?? [];
    expect(
      assistant?.role === "assistant" && assistant.toolCalls?.map(({ id }) => id),
    ).to.deep.equal(["call_1", "call_2", "call_3"]);
    expect(first).to.include({ role: "tool", toolCallId: "call_1", toolName: "slow" });
  });

  it("never runs a sequential tool concurrently with others", async () => {
    const log: string[] = [];
    const { model, result } = start(
      [slow("a", log), slow("s", log, true)],
      [wants("a", "a", "s", "a", "a"), "Done"],
    );
    await result;
    expect(log).to.deep.equal(["a+", "a+", "a-", "a-", "s+", "s-", "a+", "a+", "a-", "a-"]);
    expect(toolMessages(model).map(({ content }) => content)).to.deep.equal([
      "a",
      "a",
      "s",
      "a",
      "a",
    ]);
  });

  it("refuses the calls of a turn beyond the limit, after the allowed calls have run", async () => {
    const log: string[] = [];
    const { model, scope, result } = start(
      [slow("t", log)],
      [wants("t", "t", "t", "t", "t"), "Done"],
      { maxIterations: 2 },
    );
    expect(await result).to.deep.equal({ raw: "Done", toolCallCount: 2 });
    expect(toolMessages(model).map(({ content }) => content)).to.deep.equal([
      "t",
      "t",
      STOP,
      STOP,
      STOP,
    ]);
    expect(log.filter((entry) => entry === "t+")).to.have.lengthOf(2);
    expect(scope.skipped.map(({ call, text }) => [call.id, text])).to.deep.equal([
      ["call_3", STOP],
      ["call_4", STOP],
      ["call_5", STOP],
    ]);
    expect(scope.requests.map(({ toolChoice }) => toolChoice)).to.deep.equal([
      undefined,
      undefined,
    ]);
  });

  it("withholds the tools after two turns over the limit", async () => {
    const { scope, result } = start(
      [named("t", () => "")],
      [wants("t", "t"), wants("t"), wants("t"), "Done"],
      { maxIterations: 2 },
    );
    expect((await result).toolCallCount).to.equal(2);
    expect(scope.requests.map(({ toolChoice }) => toolChoice)).to.deep.equal([
      undefined,
      undefined,
      undefined,
      "none",
    ]);
    expect(scope.requests[3]?.tools).to.have.lengthOf(1);
  });

  it("fails when the model asks for tools a third time", async () => {
    const { model, result } = start(
      [named("t", () => "")],
      [wants("t", "t"), wants("t"), wants("t"), wants("t")],
      { maxIterations: 2 },
    );
    const error = await failure(result);
    expect(error).to.be.instanceOf(MaxIterationsExceededError);
    expect(error).to.include({
      agentRole: "R",
      taskDescription: "Use the tools",
      maxIterations: 2,
      toolCallsMade: 2,
    });
    model.assertExhausted();
  });

  it("ends a model that requests tools although it has none", async () => {
    const { scope, result } = start([], [wants("t"), wants("t"), wants("t"), wants("t")], {
      maxIterations: 1,
    });
    expect(await failure(result)).to.be.instanceOf(MaxIterationsExceededError);
    expect(scope.requests.map(({ toolChoice }) => toolChoice)).to.deep.equal([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("cuts long outputs and notes their length", async () => {
    const cut = async (limit: number, output: string): Promise<string | undefined> => {
      const { model, result } = start([named("t", () => output)], [wants("t"), "Done"], {
        maxToolOutputLength: limit,
      });
      await result;
      return toolMessages(model)[0]?.content;
    };
    expect(await cut(3, "abcdef")).to.equal("abc... [truncated, full length: 6 chars]");
    expect(await cut(0, "abcdef")).to.equal("... [truncated, full length: 6 chars]");
    expect(await cut(6, "abcdef")).to.equal("abcdef");
    expect(await cut(-1, "abcdef")).to.equal("abcdef");
    expect(await cut(2, "a😀b")).to.equal("a... [truncated, full length: 4 chars]");
    expect(await cut(3, "a😀b")).to.equal("a😀... [truncated, full length: 4 chars]");
  });

  it("passes on configuration errors and early exits of tools after the other calls have ended", async () => {
    for (const error of [new ToolConfigurationError("no key"), new ExitEarlySignal("enough")]) {
      const log: string[] = [];
      const { model, result } = start(
        [named("t", () => Promise.reject(error)), slow("slow", log)],
        [wants("t", "slow")],
      );
      expect(await rejection(result)).to.equal(error);
      expect(log).to.deep.equal(["slow+", "slow-"]);
      expect(model.requests).to.have.lengthOf(1);
    }
  });
});
