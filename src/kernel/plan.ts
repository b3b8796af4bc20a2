import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { Plan, PlannedTask } from "../contracts/plan.js";
import type { Loop } from "../contracts/loop.js";
import type { TaskNote } from "../contracts/map-reduce.js";
import type { AnyTask } from "../contracts/task.js";
import type { Inputs } from "../contracts/types.js";
import { PromptTemplateError, ValidationError } from "../contracts/errors.js";
import { taskNotesOf } from "../contracts/map-reduce.js";
import { Task } from "../contracts/task.js";
import type { PlanEntry } from "./plan-entries.js";
import { planEntries } from "./plan-entries.js";
import { fillTemplate, variablesIn } from "./template.js";

/** A plan, and the ids of the tasks as the user wrote them. */
export interface PlanDraft {
  readonly plan: Plan;
  readonly ids: ReadonlyMap<AnyTask, string>;
  /** Inputs named in texts that are no templates. */
  readonly unfilled: ReadonlySet<string>;
}

/** A copy with other texts; what was checked at construction needs no second check. */
function withTexts(task: AnyTask, description: string, expectedOutput: string): AnyTask {
  if (description === task.description && expectedOutput === task.expectedOutput) return task;
  return Object.freeze(
    Object.assign(Object.create(Task.prototype) as object, task, { description, expectedOutput }),
  ) as AnyTask; // same class, same fields
}

/** The id of every task. @throws ValidationError for a task listed twice and for an id taken twice. */
function checkIds(entries: readonly PlanEntry[]): Map<AnyTask, string> {
  const ids = new Map<AnyTask, string>();
  const taken = new Set<string>();
  for (const { task, id } of entries) {
    if (ids.has(task)) {
      throw new ValidationError(
        `Task '${task.name ?? task.description}' is listed twice. A task has one place in an ensemble.`,
        {
          hint: "List a copy instead: task.with({}).",
        },
      );
    }
    if (taken.has(id))
      throw new ValidationError(
        `Duplicate task name '${id}'. Task names must be unique within an ensemble.`,
      );
    taken.add(id);
    ids.set(task, id);
  }
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
const NO_NAMES: ReadonlySet<string> = new Set();

/** Fills the texts of tasks, and remembers what was missing. */
class TextFiller {
  readonly missing = new Set<string>();
  readonly unfilled = new Set<string>();
  firstIncomplete: string | undefined;

  constructor(readonly inputs: Inputs) {}

  fill(task: AnyTask, note: TaskNote | undefined): AnyTask {
    if (note === undefined)
      return withTexts(task, this.#text(task.description), this.#text(task.expectedOutput));
    const data = task.description.slice(note.templateLength);
    for (const text of [data, task.expectedOutput]) {
      for (const name of variablesIn(text))
        if (Object.hasOwn(this.inputs, name)) this.unfilled.add(name);
    }
    return note.templateLength === 0
      ? task
      : withTexts(
          task,
          this.#text(task.description.slice(0, note.templateLength)) + data,
          task.expectedOutput,
        );
  }

  #text(text: string): string {
    const before = this.missing.size;
    const filled = fillTemplate(text, this.inputs, this.missing);
    if (this.missing.size > before) this.firstIncomplete ??= text;
    return filled;
  }
}

/**
 * Makes the plan of a run: ids, context, filled templates. Pure; no model is called. Without `inputs` the texts stay as they were written.
 * @throws ValidationError, or PromptTemplateError that names every missing variable of all tasks.
 */
export function createPlan(options: EnsembleOptions, inputs: Inputs | undefined): PlanDraft {
  const entries = planEntries(options);
  if (entries.length === 0) throw new ValidationError("Ensemble must have at least one task");
  const ids = checkIds(entries);
  const notes = taskNotesOf(options);
  const filler = inputs === undefined ? undefined : new TextFiller(inputs);
  const tasks = entries.map(({ task, id, group }): PlannedTask => {
    const note = notes?.get(task);
    return {
      id,
      spec: filler?.fill(task, note) ?? task,
      contextIds: contextIdsOf(task, ids),
      agent: task.agent,
      group,
      mapReduce: note?.mapReduce,
    };
  });
  if (filler?.firstIncomplete !== undefined)
    throw new PromptTemplateError([...filler.missing], filler.firstIncomplete);
  const { phases = [], loops = [], graph } = options;
  const plan: Plan = Object.freeze({
    tasks: Object.freeze(tasks),
    phases,
    loops,
    graph,
    options,
    idOf: (task: AnyTask) => ids.get(task),
  });
  return { plan, ids, unfilled: filler?.unfilled ?? NO_NAMES };
}

/** Fills the templates of a task that is added during a run. */
export function fillTask(task: AnyTask, inputs: Inputs): AnyTask {
  const missing = new Set<string>();
  const filled = withTexts(
    task,
    fillTemplate(task.description, inputs, missing),
    fillTemplate(task.expectedOutput, inputs, missing),
  );
  if (missing.size > 0) throw new PromptTemplateError([...missing], task.description);
  return filled;
}

/** The part of a plan with these ids, in this order. Loops that lie wholly in it are part of it; all other tasks stand in its task list. @throws ValidationError for an unknown id. */
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
      task.group === undefined || loops.includes(task.group as Loop)
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

/** The workflow of an ensemble: by its shape, else the one named, else PARALLEL as soon as a task has another one's output in its context. */
export function inferWorkflow({
  graph,
  phases = [],
  workflow,
  tasks = [],
}: EnsembleOptions): string {
  if (graph !== undefined) return "GRAPH";
  if (phases.length > 0) return "PHASES";
  return workflow ?? (tasks.some((task) => task.context.length > 0) ? "PARALLEL" : "SEQUENTIAL");
}
