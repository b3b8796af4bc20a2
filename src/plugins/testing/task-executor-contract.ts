import assert from "node:assert/strict";
import type { ChatModel } from "../../contracts/chat-model.js";
import type { ExecutorResult, TaskExecutor } from "../../contracts/executors.js";
import type { TaskCall } from "../../contracts/hooks.js";
import type { PlannedTask } from "../../contracts/plan.js";
import type { AnyTask } from "../../contracts/task.js";
import { Agent } from "../../contracts/agent.js";
import { RunCancelledError } from "../../contracts/errors.js";
import { Task } from "../../contracts/task.js";
import { checkOptions } from "../../contracts/validation.js";
import { ScriptedModel } from "./scripted-model.js";
import { stagedOutput } from "./staged-run.js";
import { StagedScope } from "./staged-scope.js";

/** Options of `taskExecutorContract`. */
export interface TaskExecutorContractOptions {
  /** Called once per test. */
  create(): TaskExecutor;
  /** A task that the executor executes successfully. */
  readonly task: AnyTask;
  /**
   * A similar task that fails, because its tool or handler throws. Default: `task` with a model
   * that fails.
   */
  readonly failing?: AnyTask | undefined;
  /** A task that it does not execute. Default: not checked. */
  readonly foreign?: AnyTask | undefined;
  /** Answers its model calls. Default: every call gets the text `answer`. */
  readonly model?: ChatModel | undefined;
}

function planned(task: AnyTask): PlannedTask {
  return { id: "task-1", task: task, contextIds: [], agent: task.agent };
}

function taskCallOf(task: AnyTask, scope: StagedScope): TaskCall {
  const agent =
    task.handler === undefined
      ? (task.agent ?? new Agent({ role: "Tester", goal: "Test", tools: task.tools }))
      : undefined;
  const before = new Task({
    description: "Before",
    agent: new Agent({ role: "Forerunner", goal: "Go first" }),
  });
  const contextOutputs = Object.freeze([stagedOutput("task-0", before, "what came before")]);
  const call: TaskCall = {
    run: scope.run,
    taskId: scope.taskId,
    identity: scope.taskId,
    task,
    source: task,
    agent,
    contextOutputs,
    promptSections: Object.freeze([]),
    attempt: 1,
    revision: undefined,
    signal: scope.signal,
  };
  return Object.freeze(call); // a change would throw
}

function assertTaskResult(result: ExecutorResult): void {
  assert.equal(typeof result.raw, "string", "raw must be a string");
  const { toolCallCount = 0 } = result;
  assert.ok(
    Number.isInteger(toolCallCount) && toolCallCount >= 0,
    `toolCallCount must be 0 or more, was ${toolCallCount}`,
  );
}

async function rejection(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  return assert.fail("execute() must reject");
}

/** Whether `cause` is `error` or among its causes. */
function ledTo(error: unknown, cause: unknown): boolean {
  for (let e = error; e !== undefined; e = e instanceof Error ? e.cause : undefined)
    if (e === cause) return true;
  return false;
}

function endingSuite(options: TaskExecutorContractOptions, model: ChatModel): void {
  it("rejects with the signal's reason, or an error caused by it, when the task was stopped", async () => {
    const scope = new StagedScope("run-1", model);
    const reason = new RunCancelledError("The run was cancelled");
    scope.abort(reason);
    const ended = await options
      .create()
      .execute(taskCallOf(options.task, scope), scope)
      .catch((error: unknown) => error);
    if (ended instanceof Error)
      assert.ok(ledTo(ended, reason), `expected the signal's reason, got ${String(ended)}`);
    assert.deepEqual(scope.purposes, [], "no model may be called after the end");
  });

  it("rejects with the cause when the work fails", async () => {
    const reason = new Error("the model is out of order");
    const failing =
      options.failing === undefined
        ? new ScriptedModel([reason], { onExhausted: "repeat-last" })
        : model;
    const scope = new StagedScope("run-1", failing);
    const error = await rejection(
      options.create().execute(taskCallOf(options.failing ?? options.task, scope), scope),
    );
    assert.ok(error instanceof Error, `expected an Error, got ${String(error)}`);
    if (options.failing === undefined)
      assert.ok(
        ledTo(error, reason),
        "the model's own error must be the error or among its causes",
      );
  });
}

/**
 * Registers tests with the global `describe` and `it` of any runner that every task executor should
 * pass. The executor gets a scope without a run. `model` answers model calls. Tools are executed
 * directly.
 *
 * @example
 * taskExecutorContract("my executor", {
 *   create: () => new MyExecutor(),
 *   task: Task.of("Say hello"),
 * });
 * @throws ValidationError for an unknown option.
 */
export function taskExecutorContract(name: string, options: TaskExecutorContractOptions): void {
  checkOptions("taskExecutorContract()", options, [
    "create",
    "task",
    "failing",
    "foreign",
    "model",
  ]);
  const model = options.model ?? new ScriptedModel(["answer"], { onExhausted: "repeat-last" });
  describe(`task executor contract: ${name}`, () => {
    it("has a name", () => {
      assert.match(options.create().name, /\S/);
    });

    it("handles its own tasks only", () => {
      const executor = options.create();
      assert.equal(executor.handles(planned(options.task)), true);
      if (options.foreign !== undefined)
        assert.equal(executor.handles(planned(options.foreign)), false);
    });

    it("executes a task, and leaves its call unchanged", async () => {
      const scope = new StagedScope("run-1", model);
      assertTaskResult(await options.create().execute(taskCallOf(options.task, scope), scope)); // the call is frozen
    });

    it("calls the model through the scope only", async () => {
      const scope = new StagedScope("run-1", model);
      await options.create().execute(taskCallOf(options.task, scope), scope);
      assert.equal(
        scope.model.requests.length,
        0,
        "a call past scope.chat() is in no total and no hook sees it",
      );
    });

    it("executes two tasks at once with one object", async () => {
      const executor = options.create();
      const scopes = [new StagedScope("run-1", model), new StagedScope("run-2", model)];
      const results = await Promise.all(
        scopes.map((scope) => executor.execute(taskCallOf(options.task, scope), scope)),
      );
      results.forEach(assertTaskResult);
      const [one, two] = scopes;
      assert.deepEqual(one?.purposes, two?.purposes);
    });

    it("returns the first prompt without calling anything", async () => {
      const executor = options.create();
      if (executor.preview === undefined) return;
      const scope = new StagedScope("run-1", model);
      const preview = await executor.preview(taskCallOf(options.task, scope), scope);
      assert.equal(typeof preview.systemPrompt, "string");
      assert.equal(typeof preview.userPrompt, "string");
      assert.ok(Array.isArray(preview.tools));
      assert.deepEqual([scope.purposes.length, scope.model.requests.length], [0, 0]);
    });

    endingSuite(options, model);
  });
}
