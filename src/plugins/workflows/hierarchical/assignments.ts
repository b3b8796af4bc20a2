import type { TaskOutput } from "../../../contracts/output.js";
import type { PlannedTask } from "../../../contracts/plan.js";

/**
 * The delegations of a manager: finished listed tasks, and the outputs in the order of the calls.
 */
export class Assignments {
  readonly #listed: readonly PlannedTask[];
  readonly #done = new Set<string>();
  readonly #results: { output: TaskOutput | undefined }[] = [];

  constructor(listed: readonly PlannedTask[]) {
    this.#listed = listed;
  }

  get count(): number {
    return this.#listed.length;
  }

  /** Returns a listed task by its number in the manager's prompt. */
  task(number: number): PlannedTask | undefined {
    return this.#listed[number - 1];
  }

  /** Reserves a position for a result. The returned function sets the result. */
  begin(): (task: PlannedTask | undefined, output: TaskOutput | undefined) => void {
    const result: { output: TaskOutput | undefined } = { output: undefined };
    this.#results.push(result);
    return (task, output) => {
      if (task !== undefined) this.#done.add(task.id);
      result.output = output;
    };
  }

  /** Returns the numbers of unfinished listed tasks that a task depends on. */
  missingFor(task: PlannedTask): readonly number[] {
    return this.#numbers(({ id }) => task.contextIds.includes(id) && !this.#done.has(id));
  }

  get done(): readonly number[] {
    return this.#numbers(({ id }) => this.#done.has(id));
  }

  get open(): readonly number[] {
    return this.#numbers(({ id }) => !this.#done.has(id));
  }

  get outputs(): readonly TaskOutput[] {
    return this.#results.flatMap(({ output }) => output ?? []);
  }

  #numbers(holds: (task: PlannedTask) => boolean): readonly number[] {
    return this.#listed.flatMap((task, index) => (holds(task) ? [index + 1] : []));
  }
}
