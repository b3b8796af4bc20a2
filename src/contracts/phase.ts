import type { Workflow } from "./ensemble-options.js";
import type { AnyTask } from "./task.js";
import { ValidationError } from "./errors.js";
import { Task } from "./task.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireInstance,
  requireInteger,
} from "./validation.js";

/** Options of a phase. */
export interface PhaseOptions {
  /** The name, unique within the ensemble. Also the key in `output.phaseOutputs`. */
  readonly name: string;
  readonly tasks: readonly AnyTask[];
  /**
   * The workflow of the phase. HIERARCHICAL is not allowed. Default: the workflow of the ensemble.
   * If the ensemble has none: PARALLEL if a task has another task of the phase in its `context`,
   * else SEQUENTIAL.
   */
  readonly workflow?: Workflow | undefined;
  /** Phases that must finish before this phase starts. Default: none. */
  readonly after?: readonly Phase[] | undefined;
  readonly review?: PhaseReview | undefined;
}

/** @throws ValidationError unless every element is a task. */
export function checkTaskList(what: string, tasks: unknown): void {
  requireArray(what, tasks);
  (tasks as readonly unknown[]).forEach((task, index) => {
    requireInstance(`${what}[${index}]`, task, { type: Task, name: "Task" });
  });
}

/**
 * A named group of tasks. Phases form a graph. Phases that do not wait for each other run in
 * parallel. Phases are immutable: a cycle is impossible.
 */
export class Phase {
  readonly name: string;
  readonly tasks: readonly AnyTask[];
  readonly workflow: Workflow | undefined;
  readonly after: readonly Phase[];
  readonly review: PhaseReview | undefined;

  /** @throws ValidationError */
  constructor(o: PhaseOptions) {
    checkOptions("Phase", o, ["name", "tasks", "workflow", "after", "review"]);
    if (typeof o.name !== "string" || o.name.trim() === "")
      throw new ValidationError("Phase name must not be null or blank");
    if (!Array.isArray(o.tasks) || o.tasks.length === 0)
      throw new ValidationError(`Phase '${o.name}' must contain at least one task`);
    checkTaskList(`Phase '${o.name}' tasks`, o.tasks);
    if (o.workflow === "HIERARCHICAL") {
      throw new ValidationError(
        `Phase '${o.name}': Workflow.HIERARCHICAL is not supported at the phase level. Use HIERARCHICAL at the ensemble level (without phases) for hierarchical delegation.`,
      );
    }
    requireArray(`Phase '${o.name}' after`, o.after);
    o.after?.forEach((phase, index) => {
      requireInstance(`Phase '${o.name}' after[${index}]`, phase, { type: Phase, name: "Phase" });
    });
    if (o.review !== undefined && !(o.review instanceof PhaseReview))
      throw new ValidationError(
        `Phase '${o.name}' review must be a PhaseReview, got: ${preview(o.review)}`,
      );
    this.name = o.name;
    this.tasks = Object.freeze([...(o.tasks as readonly AnyTask[])]);
    this.workflow = o.workflow;
    this.after = Object.freeze([...(o.after ?? [])]);
    this.review = o.review;
    Object.freeze(this);
  }

  /** Creates a phase from a name and tasks, with default options. */
  static of(name: string, ...tasks: AnyTask[]): Phase {
    return new Phase({ name, tasks });
  }
}

/**
 * Returns all direct and indirect predecessors of `phase`. Phases are frozen: a cycle is
 * impossible.
 */
export function predecessorsOf(phase: Phase, found = new Set<Phase>()): ReadonlySet<Phase> {
  for (const before of phase.after) {
    if (found.has(before)) continue;
    found.add(before);
    predecessorsOf(before, found);
  }
  return found;
}

/**
 * Judges a phase after each attempt. The output of `task` is `APPROVE`, `RETRY: feedback`,
 * `RETRY_PREDECESSOR name: feedback` or `REJECT: reason`. Any other text approves. The task
 * receives the phase's outputs.
 */
export class PhaseReview {
  readonly task: AnyTask;
  readonly maxRetries: number;
  readonly maxPredecessorRetries: number;

  /** Both limits default to 2. @throws ValidationError */
  constructor(o: {
    readonly task: AnyTask;
    readonly maxRetries?: number | undefined;
    readonly maxPredecessorRetries?: number | undefined;
  }) {
    checkOptions("PhaseReview", o, ["task", "maxRetries", "maxPredecessorRetries"]);
    if (!(o.task instanceof Task)) throw new ValidationError("PhaseReview task must not be null");
    requireInteger("PhaseReview maxRetries", o.maxRetries, 0);
    requireInteger("PhaseReview maxPredecessorRetries", o.maxPredecessorRetries, 0);
    this.task = o.task;
    this.maxRetries = o.maxRetries ?? 2;
    this.maxPredecessorRetries = o.maxPredecessorRetries ?? 2;
    Object.freeze(this);
  }
}
