import type { ExecutorResult, TaskExecutor } from "../../../contracts/executors.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { PlannedTask } from "../../../contracts/plan.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTool } from "../../../contracts/tool.js";
import {
  AgentExecutionError,
  RunCancelledError,
  RunTimeoutError,
  TaskTimeoutError,
  ToolExecutionError,
  ValidationError,
  endsRun,
} from "../../../contracts/errors.js";
import { isTool } from "../../../contracts/tool.js";
import { Schemas } from "../../shared/schemas.js";
import { HandlerContext } from "./handler-context.js";
import { handlerResult } from "./handler-result.js";
import { messageOf } from "../../../util/errors.js";

/** The role of tasks without an agent. */
const ROLE = "(deterministic)";

/**
 * Executes tasks with a handler. Calls the function or the tool and converts its value to a result.
 */
export class HandlerExecutor implements TaskExecutor {
  readonly name = "handler";
  readonly #schemas = new Schemas();

  handles(task: PlannedTask): boolean {
    return task.task.handler !== undefined;
  }

  async execute(call: TaskCall, scope: TaskScope): Promise<ExecutorResult> {
    const { handler } = call.task;
    if (handler === undefined)
      throw new ValidationError(`Task '${call.task.description}' has no handler`);
    const fail = (message: string, cause?: unknown): AgentExecutionError =>
      new AgentExecutionError(
        message,
        { agentRole: ROLE, taskDescription: call.task.description },
        cause === undefined ? {} : { cause },
      );
    let value: unknown;
    try {
      value = isTool(handler)
        ? await scope.callTool(handlerCall(handler, call), [handler])
        : await handler(new HandlerContext(call, scope));
    } catch (thrown) {
      if (endsTheRun(thrown, call.signal)) throw thrown;
      // The error of the tool itself is wrapped: its cause has more details.
      const error =
        ToolExecutionError.isInstance(thrown) && isTool(handler)
          ? (thrown.cause ?? thrown)
          : thrown;
      throw fail(`Deterministic task handler threw an exception: ${messageOf(error)}`, error);
    }
    const result = await handlerResult(value, call.task, this.#schemas, fail);
    return { ...result, toolCallCount: isTool(handler) ? 1 : 0 };
  }
}

/**
 * Returns whether a thrown value ends the run instead of being a failure of the handler. An inner
 * run of the handler may be cancelled independently of this run.
 */
function endsTheRun(thrown: unknown, signal: AbortSignal): boolean {
  if (endsRun(thrown)) return true;
  if (!signal.aborted) return false;
  return (
    thrown === signal.reason ||
    RunCancelledError.isInstance(thrown) ||
    RunTimeoutError.isInstance(thrown) ||
    TaskTimeoutError.isInstance(thrown)
  );
}

/**
 * Returns the call of a handler. The input of a tool is the text of the last task in the context.
 * Without such a task, it is the description. A tool with a schema parses that text as JSON.
 */
function handlerCall(
  tool: AnyTool,
  { attempt, contextOutputs, task }: TaskCall,
): { readonly id: string; readonly name: string; readonly arguments: string } {
  const text = contextOutputs.at(-1)?.raw ?? task.description;
  return {
    id: `handler-${attempt}`,
    name: tool.name,
    arguments: tool.input === undefined ? JSON.stringify({ input: text }) : text,
  };
}
