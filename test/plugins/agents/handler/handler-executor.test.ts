import { expect } from "chai";
import { z } from "zod";
import type { AnyTask } from "../../../../src/contracts/task.js";
import type { TaskContext } from "../../../../src/contracts/run.js";
import {
  AgentExecutionError,
  ExitEarlySignal,
  OutputParsingError,
  RunCancelledError,
  RunTimeoutError,
  ValidationError,
} from "../../../../src/contracts/errors.js";
import { Task } from "../../../../src/contracts/task.js";
import { tool } from "../../../../src/contracts/tool.js";
import { ToolResult } from "../../../../src/contracts/tool-result.js";
import { HandlerExecutor } from "../../../../src/plugins/agents/handler/handler-executor.js";
import {
  failure,
  fakeOutput,
  fakeRun,
  fakeScope,
  rejection,
  taskCall,
} from "../../../support/fake-scope.js";

function run(
  task: AnyTask,
  o: Parameters<typeof taskCall>[1] = {},
): ReturnType<HandlerExecutor["execute"]> {
  return new HandlerExecutor().execute(taskCall(task, { agent: undefined, ...o }), fakeScope());
}

function returning(value: unknown): AnyTask {
  return new Task<unknown>({ description: "Count", handler: () => value });
}

describe("HandlerExecutor", () => {
  it("handles tasks with a handler", () => {
    const executor = new HandlerExecutor();
    expect(executor.handles({ id: "a", task: returning(1), contextIds: [] })).to.equal(true);
    expect(
      executor.handles({ id: "a", task: new Task({ description: "x" }), contextIds: [] }),
    ).to.equal(false);
  });

  const circular: Record<string, unknown> = {};
  circular["self"] = circular;

  const values: readonly (readonly [string, unknown, object])[] = [
    ["text", "done", { raw: "done", parsed: "done" }],
    ["empty text", "", { raw: "", parsed: "" }],
    ["an object", { n: 1 }, { raw: '{"n":1}', parsed: { n: 1 } }],
    ["an array", [1, 2], { raw: "[1,2]", parsed: [1, 2] }],
    ["a number", 0, { raw: "0", parsed: 0 }],
    ["a boolean", false, { raw: "false", parsed: false }],
    ["a promise", Promise.resolve("later"), { raw: "later", parsed: "later" }],
    ["a successful ToolResult", ToolResult.success("text"), { raw: "text" }],
    [
      "a ToolResult with a value",
      ToolResult.success("text", { n: 1 }),
      { raw: "text", parsed: { n: 1 } },
    ],
  ];
  for (const [name, value, expected] of values) {
    it(`accepts ${name}`, async () => {
      expect(await run(returning(value))).to.deep.equal({ ...expected, toolCallCount: 0 });
    });
  }

  const failures: readonly (readonly [string, unknown, RegExp])[] = [
    ["nothing", undefined, /^Deterministic task handler returned null for task: Count$/],
    ["null", null, /^Deterministic task handler returned null for task: Count$/],
    ["a failed ToolResult", ToolResult.failure("no file"), /^Deterministic task failed: no file$/],
    ["a circular object", circular, /JSON cannot hold .*(?:circular|cyclic).* for task: Count/s],
    ["a BigInt", 1n, /JSON cannot hold .*BigInt.* for task: Count/],
    ["a function", () => 1, /JSON cannot hold \(function\)/],
    ["NaN", NaN, /JSON cannot hold \(NaN\)/],
  ];
  for (const [name, value, message] of failures) {
    it(`fails on ${name}`, async () => {
      const error = await failure(run(returning(value)));
      expect(error)
        .to.be.instanceOf(AgentExecutionError)
        .and.include({ agentRole: "(deterministic)", taskDescription: "Count" });
      expect(error.message).to.match(message);
    });
  }

  it("passes its context to the handler", async () => {
    const before = new Task({ description: "Before", handler: () => ({ n: 7 }) });
    const output = fakeOutput(before, "(deterministic)", '{"n":7}', { n: 7 });
    let seen: TaskContext | undefined;
    const task = new Task({
      description: "Count",
      expectedOutput: "A number",
      context: [before],
      handler: (ctx) => {
        seen = ctx;
        return ctx.getOutput(before).parsed.n;
      },
    });
    const revision = { feedback: "again" };
    const call = taskCall(task, { agent: undefined, contextOutputs: [output], revision });
    expect((await new HandlerExecutor().execute(call, fakeScope())).parsed).to.equal(7);
    expect(seen).to.include({
      description: "Count",
      expectedOutput: "A number",
      signal: call.signal,
      run: fakeRun,
      inputs: fakeRun.inputs,
      revision,
    });
    expect(seen?.contextOutputs).to.deep.equal([output]);
    expect(() => seen?.getOutput(task)).to.throw(ValidationError);
  });

  it("wraps an error of the handler", async () => {
    const cause = new TypeError("boom");
    const error = await failure(
      run(new Task<unknown>({ description: "Count", handler: () => Promise.reject(cause) })),
    );
    expect(error).to.be.instanceOf(AgentExecutionError);
    expect(error.message).to.equal("Deterministic task handler threw an exception: boom");
    expect(error.cause).to.equal(cause);
  });

  it("passes on an early exit, and a cancellation only if the task was cancelled", async () => {
    const throwing = (error: Error): AnyTask =>
      new Task<unknown>({ description: "Count", handler: () => Promise.reject(error) });
    const early = new ExitEarlySignal("enough");
    expect(await rejection(run(throwing(early)))).to.equal(early);
    for (const error of [new RunCancelledError("stop"), new RunTimeoutError(5)]) {
      expect(await rejection(run(throwing(error))))
        .to.be.instanceOf(AgentExecutionError)
        .and.have.property("cause", error);
      expect(await rejection(run(throwing(error), { signal: AbortSignal.abort() }))).to.equal(
        error,
      );
    }
    const reason = new Error("aborted");
    expect(await rejection(run(throwing(reason), { signal: AbortSignal.abort(reason) }))).to.equal(
      reason,
    );
    expect(
      await rejection(run(throwing(new Error("other")), { signal: AbortSignal.abort(reason) })),
    ).to.be.instanceOf(AgentExecutionError);
  });

  describe("with an outputType", () => {
    const point = z.object({ x: z.string().transform(Number) });

    it("validates the value", async () => {
      const task = new Task<unknown>({
        description: "Count",
        outputType: point,
        handler: () => ({ x: "1" }),
      });
      expect(await run(task)).to.deep.equal({
        raw: '{"x":"1"}',
        parsed: { x: 1 },
        toolCallCount: 0,
      });
    });

    it("uses the value's JSON as text", async () => {
      const task = new Task({
        description: "Count",
        outputType: point,
        handler: () => '{"x":"1"}',
      });
      expect((await run(task)).parsed).to.deep.equal({ x: 1 });
    });

    it("uses the text for a schema of text, even if it is JSON", async () => {
      expect(
        (await run(new Task({ description: "Count", outputType: z.string(), handler: () => "42" })))
          .parsed,
      ).to.equal("42");
    });

    it("validates the contents of a ToolResult", async () => {
      const task = (result: ToolResult): AnyTask =>
        new Task<unknown>({ description: "Count", outputType: point, handler: () => result });
      expect((await run(task(ToolResult.success("text", { x: "1" })))).parsed).to.deep.equal({
        x: 1,
      });
      expect((await run(task(ToolResult.success('{"x":"2"}')))).parsed).to.deep.equal({ x: 2 });
    });

    it("fails on a value that does not fit", async () => {
      for (const value of [{ x: 1 }, '{"x":1}', "none"]) {
        const error = await failure(
          run(new Task<unknown>({ description: "Count", outputType: point, handler: () => value })),
        );
        expect(error).to.be.instanceOf(OutputParsingError).and.have.property("attemptCount", 1);
      }
    });
  });

  describe("with a tool", () => {
    const upper = tool({
      name: "upper",
      description: "Upper case",
      execute: (text) => text.toUpperCase(),
    });
    const before = fakeOutput(Task.of("Before"), "R", "last");

    it("passes it the description if there is no earlier output", async () => {
      expect(await run(new Task<unknown>({ description: "shout", handler: upper }))).to.deep.equal({
        raw: "SHOUT",
        toolCallCount: 1,
      });
    });

    it("passes it the last output in the context", async () => {
      const contextOutputs = [fakeOutput(Task.of("First"), "R", "first"), before];
      expect(
        (await run(new Task<unknown>({ description: "shout", handler: upper }), { contextOutputs }))
          .raw,
      ).to.equal("LAST");
    });

    it("passes the text as arguments to a tool with a schema", async () => {
      const add = tool({
        name: "add",
        description: "Adds",
        input: z.object({ a: z.number(), b: z.number() }),
        execute: ({ a, b }) => ({ sum: a + b }),
      });
      const contextOutputs = [fakeOutput(Task.of("First"), "R", '{"a":1,"b":2}')];
      expect(
        await run(new Task<unknown>({ description: "Sum", handler: add }), { contextOutputs }),
      ).to.deep.equal({
        raw: '{"sum":3}',
        parsed: { sum: 3 },
        toolCallCount: 1,
      });
    });

    it("fails when the tool fails or throws", async () => {
      const failing = tool({
        name: "failing",
        description: "Fails",
        execute: () => ToolResult.failure("no file"),
      });
      expect(
        (await failure(run(new Task<unknown>({ description: "d", handler: failing })))).message,
      ).to.equal("Deterministic task failed: no file");
      const cause = new Error("boom");
      const throwing = tool({
        name: "throwing",
        description: "Throws",
        execute: () => Promise.reject(cause),
      });
      const error = await failure(run(new Task<unknown>({ description: "d", handler: throwing })));
      expect(error.message).to.equal("Deterministic task handler threw an exception: boom");
      expect(error.cause).to.equal(cause);
    });
  });
});
