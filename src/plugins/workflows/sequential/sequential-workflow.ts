import type { WorkflowExecutor } from "../../../contracts/executors.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { Plan } from "../../../contracts/plan.js";
import { ValidationError } from "../../../contracts/errors.js";
import { describeTasks, inSequence } from "../shared/describe-tasks.js";
import { lastIn } from "../shared/last.js";
import { bodyIds, checkLoops, checkOrder, listTasks, tasksById } from "../shared/loop-plan.js";

/** Whether a dependency runs later. A dependency outside this part of the plan is never late. */
function isLate(
  id: string | undefined,
  all: ReadonlyMap<string, unknown>,
  done: ReadonlySet<string>,
): boolean {
  return id !== undefined && all.has(id) && !done.has(id);
}

/**
 * The list runs first, then the loops in order.
 * @throws ValidationError if a step depends on a later one.
 */
function checkSequence(plan: Plan): void {
  const { tasks, loops } = plan;
  if (loops.length === 0 && tasks.every(({ contextIds }) => contextIds.length === 0)) return;
  checkLoops(plan);
  const all = tasksById(plan);
  const done = new Set<string>();
  checkOrder(all, listTasks(plan), done);
  for (const loop of loops) {
    const ids = bodyIds(plan, loop);
    const late = loop.context.find((task) => isLate(plan.idOf(task), all, done));
    if (late !== undefined) {
      throw new ValidationError(
        `Loop '${loop.name}' references context task '${late.description}' of a loop that does not come before it`,
        {
          hint: "Move that loop up, or use workflow PARALLEL.",
        },
      );
    }
    for (const id of ids) done.add(id);
  }
}

export const sequentialWorkflow: WorkflowExecutor = Object.freeze({
  name: "SEQUENTIAL",
  reads: [],
  validate: checkSequence,
  describe(plan) {
    checkSequence(plan);
    return { steps: inSequence(describeTasks(plan).steps), sequential: true };
  },
  async execute(plan, run) {
    const taskOutputs: TaskOutput[] = [];
    const { loops } = plan;
    const tasks = listTasks(plan);
    const end = loops.at(-1) ?? tasks.at(-1);
    for (const task of tasks)
      taskOutputs.push(await run.runTask(task.id, { last: lastIn(run, task === end) }));
    for (const loop of loops) {
      const part = await run.runWorkflow("LOOP", bodyIds(plan, loop), {
        last: lastIn(run, loop === end),
      });
      taskOutputs.push(...part.taskOutputs);
    }
    return { raw: taskOutputs.at(-1)?.raw ?? "", taskOutputs };
  },
} satisfies WorkflowExecutor);
