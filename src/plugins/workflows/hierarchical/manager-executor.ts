import type { ChatRequest, ChatResponse } from "../../../contracts/chat-model.js";
import type { ExecutorResult, TaskExecutor } from "../../../contracts/executors.js";
import type { TaskCall } from "../../../contracts/hooks.js";
import type { PlannedTask } from "../../../contracts/plan.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { AnyTask } from "../../../contracts/task.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";

type ManagerChatOptions = Parameters<TaskScope["chat"]>[1];

/** Does the tasks of managers the way agents' tasks are done, and books their model calls as what they are: coordination. */
export class ManagerExecutor implements TaskExecutor {
  readonly name = "manager";
  readonly #tasks = new WeakSet<AnyTask>();

  /** Says that a task is a manager's. */
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

/** The same scope, whose calls for the task bear the purpose `manager`. */
function asManager(scope: TaskScope): TaskScope {
  const chat = (request: ChatRequest, o: ManagerChatOptions): Promise<ChatResponse> =>
    scope.chat(request, o.purpose === "task" ? { ...o, purpose: "manager" } : o);
  return Object.create(scope, { chat: { value: chat } }) as TaskScope; // everything else is inherited
}
