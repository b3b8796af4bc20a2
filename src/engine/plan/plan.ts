import type { EnsembleOptions } from "../../contracts/ensemble-options.js";
import type { Plan, PlannedTask } from "../../contracts/plan.js";
import type { AnyTask } from "../../contracts/task.js";
import type { Inputs } from "../../contracts/types.js";
import { ValidationError } from "../../contracts/errors.js";
import { TextFiller } from "./text-filler.js";

/** A task with its id and its position, before its templates are filled. */
export interface PlanEntry extends Omit<PlannedTask, "contextIds" | "agent"> {
  /** Length of the template at the start of the description. The rest is data. Default: all. */
  readonly templateLength?: number | undefined;
}

/** A plan, and the id of each task object that the user passed. */
export interface PlanDraft {
  readonly plan: Plan;
  readonly ids: Map<AnyTask, string>;
  /** The index of each task in the plan, by id. */
  readonly places: Map<string, number>;
  /** Inputs named in texts that are not templates. */
  readonly unfilled: ReadonlySet<string>;
}

/** Returns each task's id and index. @throws ValidationError for a task or id that occurs twice. */
function placesOf(entries: readonly PlanEntry[]): Pick<PlanDraft, "ids" | "places"> {
  const ids = new Map<AnyTask, string>();
  const places = new Map<string, number>();
  for (const { task, id } of entries) {
    if (ids.has(task))
      throw new ValidationError(
        `Task '${task.name ?? task.description}' is listed twice. A task has one place in an ensemble.`,
        {
          hint: "List a copy instead: task.with({}).",
        },
      );
    if (places.has(id))
      throw new ValidationError(
        `Duplicate task name '${id}'. Task names must be unique within an ensemble.`,
      );
    places.set(id, places.size);
    ids.set(task, id);
  }
  return { ids, places };
}

/** Returns the ids of a task's context. @throws ValidationError for a task outside the ensemble. */
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
const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * Creates a run's plan: ids, context, templates, filled if there are `inputs`. Calls no model.
 * @throws ValidationError, or PromptTemplateError that names every missing variable of all tasks.
 */
export function createPlan(
  options: EnsembleOptions,
  entries: readonly PlanEntry[],
  inputs: Inputs | undefined,
): PlanDraft {
  if (entries.length === 0) throw new ValidationError("Ensemble must have at least one task");
  const { ids, places } = placesOf(entries);
  const filler = inputs === undefined ? undefined : new TextFiller(inputs);
  const tasks = entries.map((entry): PlannedTask => {
    const { id, task, group, purpose, internal, mapReduce } = entry;
    return {
      id,
      task: filler?.fill(task, entry.templateLength) ?? task,
      contextIds: contextIdsOf(task, ids),
      agent: task.agent,
      group,
      purpose,
      internal,
      mapReduce,
    };
  });
  filler?.check();
  const { phases = [], loops = [], graph } = options;
  const plan: Plan = Object.freeze({
    tasks: Object.freeze(tasks),
    phases,
    loops,
    graph,
    options,
    idOf: (task: AnyTask) => ids.get(task),
  });
  return { plan, ids, places, unfilled: filler?.unfilled ?? NO_NAMES };
}

/** Fills memory scopes and, if `template`, texts of an added task. @throws PromptTemplateError */
export function fillTask(task: AnyTask, inputs: Inputs, template: boolean): AnyTask {
  const filler = new TextFiller(inputs);
  const filled = template ? filler.fill(task) : filler.fillScopes(task);
  filler.check();
  return filled;
}

/** Returns the plan of `ids` in order, whole loops only. @throws ValidationError on unknown ids. */
export function subPlan(
  plan: Plan,
  lookup: (id: string) => PlannedTask,
  ids: readonly string[],
): Plan {
  const included = new Set(ids);
  const loops = plan.loops.filter((loop) =>
    loop.tasks.every((task) => included.has(plan.idOf(task) ?? "")),
  );
  const tasks = ids
    .map(lookup)
    .map((task) =>
      task.group === undefined || loops.some((loop) => loop === task.group)
        ? task
        : { ...task, group: undefined },
    );
  return Object.freeze({
    ...plan,
    tasks: Object.freeze(tasks),
    phases: [],
    loops,
    graph: undefined,
  });
}
