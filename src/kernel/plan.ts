import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { Plan, PlannedTask } from "../contracts/plan.js";
import type { AnyTask } from "../contracts/task.js";
import type { Inputs } from "../contracts/types.js";
import { PromptTemplateError, ValidationError } from "../contracts/errors.js";
import { Task } from "../contracts/task.js";
import { fillTemplate } from "./template.js";

/** A plan, and the ids of the tasks as the user wrote them. */
export interface PlanDraft {
  readonly plan: Plan;
  readonly ids: ReadonlyMap<AnyTask, string>;
}

/** A copy with other texts; what was checked at construction needs no second check. */
function withTexts(task: AnyTask, description: string, expectedOutput: string): AnyTask {
  if (description === task.description && expectedOutput === task.expectedOutput) return task;
  return Object.freeze(Object.assign(Object.create(Task.prototype) as object, task, { description, expectedOutput })) as AnyTask; // same class, same fields
}

/** Gives every task its id. @throws ValidationError for a task listed twice and for a name taken twice. */
function assignIds(tasks: readonly AnyTask[]): Map<AnyTask, string> {
  const ids = new Map<AnyTask, string>();
  const taken = new Set<string>();
  tasks.forEach((task, index) => {
    if (ids.has(task)) {
      throw new ValidationError(`Task '${task.name ?? task.description}' is listed twice. A task runs once per ensemble.`, { hint: "List a copy instead: task.with({})." });
    }
    const id = task.name ?? `task-${index + 1}`;
    if (taken.has(id)) throw new ValidationError(`Duplicate task name '${id}'. Task names must be unique within an ensemble.`);
    taken.add(id);
    ids.set(task, id);
  });
  return ids;
}

/** The ids of a task's context. @throws ValidationError for a task that is not in the ensemble. */
export function contextIdsOf(task: AnyTask, ids: ReadonlyMap<AnyTask, string>): readonly string[] {
  if (task.context.length === 0) return NO_IDS;
  return task.context.map((context) => {
    const id = ids.get(context);
    if (id !== undefined) return id;
    throw new ValidationError(
      `Task '${task.description}' references context task '${context.description}' which is not in the ensemble's task list. All context tasks must be included in the ensemble before they can be referenced.`,
      { hint: "A copy made with with() is another task: list and reference the same object." },
    );
  });
}

const NO_IDS: readonly string[] = Object.freeze([]);

/**
 * Makes the plan of a run: ids, context, filled templates. Pure; no model is called.
 * @throws ValidationError, or PromptTemplateError that names every missing variable of all tasks.
 */
export function createPlan(options: EnsembleOptions, inputs: Inputs): PlanDraft {
  const tasks = options.tasks ?? [];
  if (tasks.length === 0) throw new ValidationError("Ensemble must have at least one task");
  const ids = assignIds(tasks);
  const missing = new Set<string>();
  let firstIncomplete: string | undefined;
  const fill = (text: string): string => {
    const before = missing.size;
    const filled = fillTemplate(text, inputs, missing);
    if (missing.size > before) firstIncomplete ??= text;
    return filled;
  };
  const planned = tasks.map((task): PlannedTask => {
    const spec = withTexts(task, fill(task.description), fill(task.expectedOutput));
    return { id: ids.get(task) ?? "", spec, contextIds: contextIdsOf(task, ids), agent: task.agent };
  });
  if (firstIncomplete !== undefined) throw new PromptTemplateError([...missing], firstIncomplete);
  return { plan: Object.freeze({ tasks: Object.freeze(planned), options }), ids };
}

/** Fills the templates of a task that is added during a run. */
export function fillTask(task: AnyTask, inputs: Inputs): AnyTask {
  const missing = new Set<string>();
  const filled = withTexts(task, fillTemplate(task.description, inputs, missing), fillTemplate(task.expectedOutput, inputs, missing));
  if (missing.size > 0) throw new PromptTemplateError([...missing], task.description);
  return filled;
}

/** The part of a plan with these ids, in the plan's order. @throws ValidationError for an unknown id. */
export function subPlan(plan: Plan, lookup: (id: string) => PlannedTask, ids: readonly string[]): Plan {
  return Object.freeze({ options: plan.options, tasks: Object.freeze(ids.map(lookup)) });
}

/** The workflow of an ensemble that names none: PARALLEL as soon as a task has another one's output in its context. */
export function inferWorkflow(options: EnsembleOptions): string {
  return options.workflow ?? (options.tasks?.some((task) => task.context.length > 0) === true ? "PARALLEL" : "SEQUENTIAL");
}
