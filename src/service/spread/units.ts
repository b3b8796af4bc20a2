import { createHash } from "node:crypto";
import type { SpreadOptions } from "../../contracts/ensemble-options.js";
import type { PlanEntry } from "../../engine/plan/plan.js";

/** The name under which units are requested, and the end of the name of their queue. */
export const UNITS = "units";
const SIZE = 20;
/** Maximum length of the id of a request. */
const LONGEST_ID = 200;

/** Tasks that one process executes together. */
export interface RunUnit {
  readonly index: number;
  readonly tasks: readonly PlanEntry[];
}

/**
 * The tasks of an ensemble that other processes may execute, in units. Units depend only on the
 * plan: every process computes the same units.
 */
export class Units {
  readonly #units: readonly RunUnit[];
  readonly #byTask = new Map<string, RunUnit>();

  constructor(entries: readonly PlanEntry[], { tasks, size = SIZE }: SpreadOptions) {
    const isChosen = tasks === "map" ? isMap : tasks;
    const chosen = entries.filter((entry) => canBeGiven(entry) && isChosen(entry));
    this.#units = Array.from({ length: Math.ceil(chosen.length / size) }, (_, index) => ({
      index,
      tasks: chosen.slice(index * size, (index + 1) * size),
    }));
    for (const unit of this.#units) for (const { id } of unit.tasks) this.#byTask.set(id, unit);
  }

  at(index: number): RunUnit | undefined {
    return this.#units[index];
  }

  /** Returns the unit of a task. Returns `undefined` for a task that is not spread. */
  of(taskId: string): RunUnit | undefined {
    return this.#byTask.get(taskId);
  }
}

const isMap = ({ mapReduce }: Pick<PlanEntry, "mapReduce">): boolean =>
  mapReduce?.nodeType === "map";

/** Returns whether a task uses only the inputs of the run. */
function canBeGiven({ task, group }: PlanEntry): boolean {
  const { context, memory, reflect, handler } = task;
  const reflects = reflect !== undefined && reflect !== false;
  return (
    group === undefined &&
    context.length === 0 &&
    memory.length === 0 &&
    !reflects &&
    handler === undefined
  );
}

/** Returns the name of the queue of an ensemble's units. */
export function unitQueue(ensemble: string): string {
  return `${ensemble}--${UNITS}`;
}

/** The inputs of a request for a unit. */
export interface UnitInputs {
  readonly run: string;
  readonly unit: number;
  /** The ids of the unit's tasks, used to check whether this process has the same plan. */
  readonly tasks: readonly string[];
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** Returns the id of the run of a unit. Equal in all executions of the requesting run. */
export function unitRunId(runId: string, index: number): string {
  const id = `${runId}/unit-${index + 1}`;
  if (id.length + 10 <= LONGEST_ID) return id;
  return `${createHash("sha256").update(runId).digest("hex")}/unit-${index + 1}`;
}
