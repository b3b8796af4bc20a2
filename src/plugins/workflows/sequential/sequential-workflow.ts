import type { WorkflowExecutor } from "../../../contracts/executors.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Plan } from "../../../contracts/plan.js";
import { ValidationError } from "../../../contracts/errors.js";

/** @throws ValidationError where a task needs the output of one that comes after it. Seed 003. */
function checkOrder(plan: Plan): void {
  const done = new Set<string>();
  const all = new Map(plan.tasks.map((task) => [task.id, task.spec]));
  for (const { id, spec, contextIds } of plan.tasks) {
    for (const contextId of contextIds) {
      const context = all.get(contextId);
      if (context === undefined || done.has(contextId)) continue;
      throw new ValidationError(`Task '${spec.description}' references context task '${context.description}' which appears later in the task list`, {
        hint: "Context tasks must be executed before the tasks that reference them: move it up, or use workflow PARALLEL.",
      });
    }
    done.add(id);
  }
}

export const sequentialWorkflow: WorkflowExecutor = Object.freeze({
  name: "SEQUENTIAL",
  validate: checkOrder,
  async execute(plan, run) {
    const taskOutputs: TaskOutput[] = [];
    for (const { id } of plan.tasks) taskOutputs.push(await run.runTask(id));
    return { raw: taskOutputs.at(-1)?.raw ?? "", taskOutputs };
  },
} satisfies WorkflowExecutor);
