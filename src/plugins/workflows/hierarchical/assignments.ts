import type { TaskOutput } from "../../../contracts/output.js";
import type { PlannedTask } from "../../../contracts/plan.js";

/** What a manager has assigned: which listed tasks are done, and what came back, in the order of the calls. */
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

  /** A listed task by the number that the manager knows it by. */
  task(number: number): PlannedTask | undefined {
    return this.#listed[number - 1];
  }

  /** Keeps a place for a result; the function that is returned fills it. */
  begin(): (task: PlannedTask | undefined, output: TaskOutput | undefined) => void {
    const result: { output: TaskOutput | undefined } = { output: undefined };
    this.#results.push(result);
    return (task, output) => {
      if (task !== undefined) this.#done.add(task.id);
      result.output = output;
    };
  }

  /** Numbers of listed tasks that a task builds on and that are not done. */
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
