import type { Plan, PlannedTask } from "../../../contracts/plan.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Loop } from "../../../contracts/loop.js";

/** Returns the tasks of the task list itself. */
export function listTasks(plan: Plan): readonly PlannedTask[] {
  return plan.loops.length === 0
    ? plan.tasks
    : plan.tasks.filter((task) => !(task.group instanceof Loop));
}

/** Maps ids to tasks for looking up contexts. */
export function tasksById(plan: Plan): ReadonlyMap<string, PlannedTask> {
  return new Map(plan.tasks.map((task) => [task.id, task]));
}

/** Returns the ids of a loop's tasks, in the order of its body. */
export function bodyIds(plan: Plan, loop: Loop): readonly string[] {
  return loop.tasks.flatMap((task) => plan.idOf(task) ?? []);
}

/**
 * Adds the ids of `tasks` to `done` in order.
 * @throws ValidationError if one of `tasks` needs the output of one of `all` that is neither in
 * `done` nor earlier in `tasks`
 */
export function checkOrder(
  all: ReadonlyMap<string, PlannedTask>,
  tasks: readonly PlannedTask[],
  done: Set<string>,
): void {
  for (const { id, task, contextIds } of tasks) {
    for (const contextId of contextIds) {
      const context = all.get(contextId);
      // outside this part of the plan: satisfied
      if (context === undefined || done.has(contextId)) continue;
      throw new ValidationError(
        `Task '${task.description}' references context task '${context.task.description}' which appears later in the task list`,
        {
          hint: "Context tasks must be executed before the tasks that reference them: move it up, or use workflow PARALLEL.",
        },
      );
    }
    done.add(id);
  }
}

/**
 * Checks loops for any workflow. Bodies must have a possible order, contexts must exist, and no
 * task may depend on a loop.
 * @throws ValidationError
 */
export function checkLoops(plan: Plan): void {
  if (plan.loops.length === 0) return;
  const byId = tasksById(plan);
  for (const { task, contextIds } of listTasks(plan)) {
    const source = contextIds.map((id) => byId.get(id)).find((task) => task?.group instanceof Loop);
    if (source?.group instanceof Loop) {
      throw new ValidationError(
        `Task '${task.description}' references context task '${source.task.description}' of loop '${source.group.name}'. Tasks cannot depend on a loop.`,
        {
          hint: "Put the task into the loop, or into a separate loop whose `context` names a task of the first.",
        },
      );
    }
  }
  for (const loop of plan.loops) {
    for (const task of loop.context) {
      if (plan.idOf(task) === undefined)
        throw new ValidationError(
          `Loop '${loop.name}' references context task '${task.description}' which is not in the ensemble`,
          {
            hint: "A copy made with with() is another task.",
          },
        );
    }
    const body = plan.tasks.filter((task) => task.group === loop);
    checkOrder(byId, body, new Set());
  }
}
