import type { ChatRequest, ChatResponse } from "../../../contracts/chat-model.js";
import type { ExecutorResult, TaskExecutor } from "../../../contracts/executors.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { PlannedTask } from "../../../contracts/plan.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTask } from "../../../contracts/task.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";

type ManagerChatOptions = Parameters<TaskScope["chat"]>[1];

/**
 * Runs the tasks of managers like tasks of agents, and records their model calls with the purpose
 * `manager`.
 */
export class ManagerExecutor implements TaskExecutor {
  readonly name = "manager";
  readonly #tasks = new WeakSet<AnyTask>();

  /** Marks a task as the task of a manager. */
  claim(task: AnyTask): void {
    this.#tasks.add(task);
  }

  handles({ task }: PlannedTask): boolean {
    return this.#tasks.has(task);
  }

  execute(call: TaskCall, scope: TaskScope): Promise<ExecutorResult> {
    const planned: PlannedTask = {
      id: call.taskId,
      task: call.task,
      contextIds: [],
      agent: call.agent,
    };
    const executor = scope
      .all(Tokens.TaskExecutor)
      .findLast((candidate) => candidate !== this && candidate.handles(planned));
    if (executor === undefined)
      throw new ValidationError("No task executor handles the manager's task", {
        hint: "Add the standard plugins, or a TaskExecutor of your own.",
      });
    return executor.execute(call, asManager(scope));
  }
}

/** Returns the same scope, whose calls for the task have the purpose `manager`. */
function asManager(scope: TaskScope): TaskScope {
  const chat = (request: ChatRequest, o: ManagerChatOptions): Promise<ChatResponse> =>
    scope.chat(request, o.purpose === "task" ? { ...o, purpose: "manager" } : o);
  // all other members are inherited
  return Object.create(scope, { chat: { value: chat } }) as TaskScope;
}
