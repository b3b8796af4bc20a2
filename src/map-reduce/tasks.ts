import type { MapReduceNode } from "../contracts/map-reduce.js";
import type { AnyTask, Task as TaskOf } from "../contracts/task.js";
import type { TaskNote } from "../ensemble/task-notes.js";
import type { MapReduceOptions } from "./options.js";
import { Agent } from "../contracts/agent.js";
import { ValidationError } from "../contracts/errors.js";
import { Task } from "../contracts/task.js";
import { preview } from "../contracts/validation.js";
import { purposeOf } from "../plugins/workflows/map-reduce/index.js";
import { messageOf } from "../util/errors.js";

/**
 * Returns the text of an item: a string unchanged, other values as JSON.
 * @throws TypeError for a value without a JSON form.
 */
export function itemText(item: unknown): string {
  return typeof item === "string" ? item : (JSON.stringify(item) ?? String(item));
}

const quarterOf = (text: string): number => Math.floor(text.length / 4);

/** The functions of the user, with checks of their results. */
export class MapReduceTasks<I, R> {
  readonly #options: MapReduceOptions<I, R>;

  constructor(options: MapReduceOptions<I, R>) {
    this.#options = options;
  }

  /** @throws ValidationError naming the item. */
  map(item: I, index: number): AnyTask {
    const { mapAgent, mapTask } = this.#options;
    const place = ` for item at index ${index}`;
    const agent =
      mapAgent === undefined
        ? undefined
        : checkTreeAgent(
            "mapAgent",
            call("mapAgent", place, () => mapAgent(item)),
            place,
          );
    return checkTreeTask(
      "mapTask",
      call("mapTask", place, () => mapTask(item, agent)),
      place,
    );
  }

  /** @throws ValidationError naming the tasks missing in `context`. */
  reduce(tasks: readonly AnyTask[]): TaskOf<R> {
    const { reduceAgent, reduceTask } = this.#options;
    const place = ` for ${tasks.length} tasks`;
    const agent =
      reduceAgent === undefined
        ? undefined
        : checkTreeAgent("reduceAgent", call("reduceAgent", place, reduceAgent), place);
    const task = checkTreeTask<R>(
      "reduceTask",
      call("reduceTask", place, () => reduceTask(Object.freeze([...tasks]), agent)),
      place,
    );
    const given = new Set(task.context);
    const missing = tasks.filter((t) => !given.has(t));
    if (missing.length === 0) return task;
    throw new ValidationError(
      `reduceTask must put every task it is given into \`context\`; '${task.description.slice(0, 80)}' lacks ${missing.length} of ${tasks.length}: ${taskNames(missing)}`,
      {
        hint: "reduceTask: (tasks) => new Task({ description: ..., context: tasks })",
      },
    );
  }

  /**
   * Returns whether the items are small enough for the direct task, by the estimated tokens of
   * their texts.
   */
  fitDirectly(items: readonly I[], budget: number): boolean {
    const { directTask, inputEstimator = itemText, tokenEstimator = quarterOf } = this.#options;
    if (directTask === undefined) return false;
    let total = 0;
    for (const [index, item] of items.entries()) {
      const place = ` for item at index ${index}`;
      const text = call("inputEstimator", place, () => inputEstimator(item));
      if (typeof text !== "string")
        throw new ValidationError(
          `inputEstimator must return a text${place}, got: ${preview(text)}`,
        );
      const tokens = call("tokenEstimator", place, () => tokenEstimator(text));
      if (typeof tokens !== "number" || !(tokens >= 0))
        throw new ValidationError(
          `tokenEstimator must return a number >= 0${place}, got: ${preview(tokens)}`,
        );
      total += tokens;
    }
    return total <= budget;
  }

  /** Returns the task that processes all items together. */
  direct(items: readonly I[]): TaskOf<R> {
    const { directAgent, directTask } = this.#options;
    const agent =
      directAgent === undefined
        ? undefined
        : checkTreeAgent("directAgent", call("directAgent", "", directAgent), "");
    return checkTreeTask<R>(
      "directTask",
      call("directTask", "", () => directTask?.(items, agent)),
      "",
    );
  }
}

function taskNames(tasks: readonly AnyTask[]): string {
  const names = tasks
    .slice(0, 5)
    .map((task) => `'${(task.name ?? task.description).slice(0, 80)}'`);
  return tasks.length > names.length ? `${names.join(", ")}, ...` : names.join(", ");
}

function call(name: string, place: string, make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    throw new ValidationError(`${name} failed${place}: ${messageOf(error)}`, { cause: error });
  }
}

function checkTreeTask<T>(name: string, task: unknown, place: string): TaskOf<T> {
  if (task instanceof Task) return task as TaskOf<T>; // by the type of the function of the user
  throw new ValidationError(`${name} must return a Task${place}, got: ${preview(task)}`);
}

function checkTreeAgent(name: string, agent: unknown, place: string): Agent {
  if (agent instanceof Agent) return agent;
  throw new ValidationError(`${name} must return an Agent${place}, got: ${preview(agent)}`);
}

/**
 * The tasks of one tree with their ids. An id is the name of the task, with a number if the name
 * repeats. The id of a task without a name is its kind and its number.
 */
export class TaskBook {
  readonly #notes: Map<AnyTask, TaskNote>;
  readonly #taken: Set<string>;
  /** Number of ids created from each base. */
  readonly #counts = new Map<string, number>();

  constructor(from?: TaskBook) {
    this.#notes = new Map(from?.notes);
    this.#taken = new Set([...this.#notes.values()].map(({ id }) => id));
  }

  get notes(): ReadonlyMap<AnyTask, TaskNote> {
    return this.#notes;
  }

  get tasks(): readonly AnyTask[] {
    return [...this.#notes.keys()];
  }

  /**
   * `templateLength`: number of characters at the start of its description that are a template.
   * @throws ValidationError for a task that was already added.
   */
  add(task: AnyTask, mapReduce: MapReduceNode, templateLength = 0): string {
    const other = this.#notes.get(task);
    if (other !== undefined) {
      throw new ValidationError(
        `The functions of a MapReduceEnsemble must make a new Task each time: '${task.name ?? task.description}' was returned for '${other.id}' already`,
      );
    }
    const id = this.#idFor(task, mapReduce);
    this.#taken.add(id);
    this.#notes.set(task, { task, id, mapReduce, purpose: purposeOf(mapReduce), templateLength });
    return id;
  }

  #idFor(task: AnyTask, { nodeType, mapReduceLevel }: MapReduceNode): string {
    const alone =
      task.name ?? (nodeType === "final-reduce" || nodeType === "direct" ? nodeType : undefined);
    if (alone !== undefined && !this.#taken.has(alone)) return alone;
    const base = alone ?? (nodeType === "reduce" ? `reduce-${mapReduceLevel}` : nodeType);
    for (;;) {
      const count = (this.#counts.get(base) ?? (alone === undefined ? 0 : 1)) + 1;
      this.#counts.set(base, count);
      const id = `${base}-${count}`;
      if (!this.#taken.has(id)) return id;
    }
  }
}
