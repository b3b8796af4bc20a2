import type { Phase } from "../../../contracts/phase.js";
import type { Plan, PlannedTask } from "../../../contracts/plan.js";
import { ValidationError } from "../../../contracts/errors.js";
import { predecessorsOf } from "../../../contracts/phase.js";
import { checkOrder, tasksById } from "../shared/loop-plan.js";

/** A plan grouped by phases. */
export class PhasePlan {
  readonly #groups = new Map<PlannedTask["group"], PlannedTask[]>();

  constructor(readonly plan: Plan) {
    for (const task of plan.tasks) {
      const group = this.#groups.get(task.group);
      if (group === undefined) this.#groups.set(task.group, [task]);
      else group.push(task);
    }
  }

  get phases(): readonly Phase[] {
    return this.plan.phases;
  }

  tasksOf(phase: Phase): readonly PlannedTask[] {
    return this.#groups.get(phase) ?? [];
  }

  /** Returns the task that reviews the phase. */
  reviewOf(phase: Phase): PlannedTask | undefined {
    return phase.review === undefined ? undefined : this.#groups.get(phase.review)?.[0];
  }

  /**
   * Returns the workflow of a phase. It is the phase's own option, or else the ensemble's. Without
   * both, the dependencies between its tasks determine it.
   */
  workflowOf(phase: Phase): string {
    const named = phase.workflow ?? this.plan.options.workflow;
    if (named !== undefined) return named;
    return phase.tasks.some((task) => task.context.some((context) => phase.tasks.includes(context)))
      ? "PARALLEL"
      : "SEQUENTIAL";
  }

  /** Returns a phase as a sub-plan. */
  partOf(phase: Phase): Plan {
    const tasks = this.tasksOf(phase).map((task) => ({ ...task, group: undefined }));
    return Object.freeze({
      ...this.plan,
      tasks: Object.freeze(tasks),
      phases: [],
      loops: [],
      graph: undefined,
    });
  }

  /** Returns the ids of all tasks that are done when `phase` starts. */
  doneBefore(phase: Phase): Set<string> {
    const ids = new Set<string>();
    for (const other of predecessorsOf(phase)) {
      for (const task of [...this.tasksOf(other), this.reviewOf(other)])
        if (task !== undefined) ids.add(task.id);
    }
    return ids;
  }
}

/**
 * @throws ValidationError for a workflow that phases can't use. Also for a task that needs an
 * output which is not available when it runs.
 */
export function checkPhases(plan: Plan): void {
  const view = new PhasePlan(plan);
  const all = tasksById(plan);
  if (plan.phases.length === 0)
    throw new ValidationError("Workflow PHASES needs phases", {
      hint: "Give the ensemble `phases`; `workflow` then sets how they run their tasks.",
    });
  for (const phase of plan.phases) {
    const workflow = view.workflowOf(phase);
    if (workflow === "HIERARCHICAL") {
      throw new ValidationError(
        `Phase '${phase.name}': Workflow.HIERARCHICAL is not supported at the phase level. Use HIERARCHICAL at the ensemble level (without phases) for hierarchical delegation.`,
      );
    }
    const tasks = view.tasksOf(phase);
    const review = view.reviewOf(phase);
    const visible = view.doneBefore(phase);
    if (workflow === "SEQUENTIAL") checkOrder(all, tasks, new Set(visible));
    for (const { id } of tasks) visible.add(id);
    for (const task of review === undefined ? tasks : [...tasks, review])
      checkPhaseContext(all, phase, task, visible);
  }
}

function checkPhaseContext(
  all: ReadonlyMap<string, PlannedTask>,
  phase: Phase,
  { task, contextIds }: PlannedTask,
  visible: ReadonlySet<string>,
): void {
  const hidden = contextIds.find((id) => !visible.has(id));
  if (hidden === undefined) return;
  throw new ValidationError(
    `Task '${task.description}' in phase '${phase.name}' references context task '${all.get(hidden)?.task.description ?? hidden}', which is neither in the phase nor in a predecessor`,
    {
      hint: "Add that task's phase to the phase's `after`.",
    },
  );
}
