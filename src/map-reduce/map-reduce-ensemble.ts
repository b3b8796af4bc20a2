import type { ModelRef } from "../contracts/chat-model.js";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { MapReduceNode } from "../contracts/map-reduce.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { BindApi } from "../contracts/plugin.js";
import type { RunOptions } from "../contracts/run.js";
import type { AnyTask, Task as TaskOf } from "../contracts/task.js";
import type { Inputs } from "../contracts/types.js";
import type { ComposedOptions } from "../ensemble/task-notes.js";
import type { MapReduceOptions, Strategy } from "./options.js";
import { checkModel } from "../contracts/agent.js";
import { ValidationError } from "../contracts/errors.js";
import { Task } from "../contracts/task.js";
import { preview, requireText } from "../contracts/validation.js";
import { TASK_NOTES } from "../ensemble/task-notes.js";
import { checkRunOptions } from "../ensemble/validation.js";
import { Ensemble } from "../ensemble/ensemble.js";
import { resolveMapReduceOptions } from "./options.js";
import { MapReduceTasks, TaskBook, itemText } from "./tasks.js";
import { MAP_REDUCE_ADAPTIVE, mapReduce } from "../plugins/workflows/map-reduce/index.js";

/**
 * The key under which `of` stores the template part of its descriptions. The part is the text
 * before an item, or the complete text of a reduce.
 */
const TEMPLATES = Symbol("templates");

interface Templates {
  readonly [TEMPLATES]?: { readonly map: number; readonly reduce: number };
}

const DIRECT: MapReduceNode = Object.freeze({ nodeType: "direct", mapReduceLevel: 0 });
const MAP: MapReduceNode = Object.freeze({ nodeType: "map", mapReduceLevel: 0 });

/**
 * Processes many items with one task per item (map). Then tasks combine several outputs (reduce),
 * in a tree, until one output is left. In static mode (default), the number of items and
 * `chunkSize` determine the tree. The tree is one PARALLEL ensemble. In adaptive mode (with a token
 * budget), each level depends on the size of the previous outputs. Immutable. Runs may overlap.
 *
 * Items and outputs are data: `{name}` in the texts of tasks created by your functions is not a
 * template variable. Only the two texts of `of` are templates.
 *
 * @example new MapReduceEnsemble({ model, items: files, mapTask: (file) => Task.of(`Summarise
 * ${file.text}`), reduceTask: (tasks) => new Task({ description: "Merge the summaries", context:
 * tasks }) })
 * @throws ValidationError from the constructor, which also creates the tasks of all items.
 */
export class MapReduceEnsemble<I, R = string> {
  readonly #strategy: Strategy;
  readonly #tasks: MapReduceTasks<I, R>;
  readonly #tokenEstimator: ((text: string) => number) | undefined;
  readonly #book: TaskBook;
  readonly #final: TaskOf<R>;
  readonly #ensemble: Ensemble;

  constructor(o: MapReduceOptions<I, R>) {
    const { strategy, ensemble } = resolveMapReduceOptions(o);
    this.#strategy = strategy;
    this.#tasks = new MapReduceTasks(o);
    this.#tokenEstimator = o.tokenEstimator;
    this.#book = new TaskBook();
    const items = Object.freeze([...o.items]);
    this.#final =
      strategy.kind === "adaptive" && this.#tasks.fitDirectly(items, strategy.budget)
        ? this.#addDirect(items)
        : this.#addTree(items, (o as Templates)[TEMPLATES]); // set only by `of`
    this.#ensemble = new Ensemble(this.#composed(ensemble));
  }

  /**
   * Creates a static map-reduce from two descriptions. The task of an item is `{mapDescription}:
   * {item}` (with an item that is not a string as JSON), or the task that the function returns. The
   * two descriptions are templates for the inputs of `run()`. Items and tasks of the function are
   * not.
   */
  static of<I>(
    model: ModelRef,
    items: readonly I[],
    mapDescription: string | ((item: I) => string),
    reduceDescription: string,
  ): MapReduceEnsemble<I> {
    if (model === undefined || model === null) throw new ValidationError("model must not be null");
    checkModel("model", model);
    if (typeof mapDescription !== "function")
      requireText(
        mapDescription,
        `mapDescription must be a text or a function, got: ${preview(mapDescription)}`,
      );
    requireText(reduceDescription, "reduceDescription must not be blank");
    const describe = (item: I): string =>
      typeof mapDescription === "function"
        ? mapDescription(item)
        : `${mapDescription}: ${itemText(item)}`;
    const options: MapReduceOptions<I, string> & Templates = {
      model,
      items,
      mapTask: (item) => Task.of(describe(item)),
      reduceTask: (tasks) => new Task({ description: reduceDescription, context: tasks }),
      [TEMPLATES]: {
        map: typeof mapDescription === "function" ? 0 : mapDescription.length,
        reduce: reduceDescription.length,
      },
    };
    return new MapReduceEnsemble<I>(options);
  }

  /** Whether the tree depends on the size of the outputs. */
  get isAdaptiveMode(): boolean {
    return this.#strategy.kind === "adaptive";
  }

  /**
   * Runs maps and reduces. `parsed` is the value of the final reduce. If the run ended without a
   * final reduce (an early exit, `throwOnError: false`), reading `parsed` throws a ValidationError.
   * `inputs` are passed to handlers and fill the templates of `of`.
   *
   * @throws as `Ensemble.run`; also ValidationError if a function creates an invalid reduce during
   * the run.
   */
  async run(
    inputs: Inputs = {},
    options: RunOptions = {},
  ): Promise<EnsembleOutput & { readonly parsed: R }> {
    checkRunOptions(options);
    if (this.#strategy.kind === "static")
      return withParsed(await this.#ensemble.run(inputs, options), this.#final);
    const { budget, maxReduceLevels } = this.#strategy;
    const book = new TaskBook(this.#book);
    let final = this.#final;
    const plugin = mapReduce({
      budget,
      maxReduceLevels,
      tokenEstimator: this.#tokenEstimator,
      reduce: (tasks, node) => {
        const task = this.#tasks.reduce(tasks);
        if (node.nodeType === "final-reduce") final = task;
        return { task, id: book.add(task, node) };
      },
    });
    const bindings = (bind: BindApi): void => {
      plugin.bind(bind); // only for this run: several reductions may share a kernel
      return options.bindings?.(bind);
    };
    const output = await this.#ensemble.run(inputs, { ...options, bindings });
    return withParsed(output, final);
  }

  /**
   * Returns the ensemble of the complete tree, for inspection or a run.
   * @throws ValidationError in adaptive mode.
   */
  toEnsemble(): Ensemble {
    if (this.#strategy.kind === "static") return this.#ensemble;
    throw new ValidationError(
      "toEnsemble() is not supported in adaptive mode. Its reduces are made during the run, from the size of the outputs.",
      {
        hint: "Set chunkSize for a tree that is known before.",
      },
    );
  }

  /** Disposes of the kernel if this map-reduce created it. */
  dispose(): Promise<void> {
    return this.#ensemble.dispose();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  #addDirect(items: readonly I[]): TaskOf<R> {
    const task = this.#tasks.direct(items);
    this.#book.add(task, DIRECT);
    return task;
  }

  /**
   * Adds maps, then reduces of `chunkSize` outputs until one reduce can combine the rest. In
   * adaptive mode, adds a single reduce of all maps. The reduce is used if the outputs fit the
   * budget. It also detects a mistake in `reduceTask` before any cost arises.
   */
  #addTree(items: readonly I[], templates: Templates[typeof TEMPLATES]): TaskOf<R> {
    const chunkSize =
      this.#strategy.kind === "static" ? this.#strategy.chunkSize : Number.POSITIVE_INFINITY;
    const add = <T extends AnyTask>(
      task: T,
      node: MapReduceNode,
      templateLength: number | undefined,
    ): T => {
      this.#book.add(task, node, templateLength);
      return task;
    };
    let level: readonly AnyTask[] = items.map((item, index) =>
      add(this.#tasks.map(item, index), MAP, templates?.map),
    );
    let mapReduceLevel = 1;
    for (; level.length > chunkSize; mapReduceLevel++) {
      const node: MapReduceNode = Object.freeze({ nodeType: "reduce", mapReduceLevel });
      level = chunks(level, chunkSize).map((chunk) =>
        add(this.#tasks.reduce(chunk), node, templates?.reduce),
      );
    }
    return add(
      this.#tasks.reduce(level),
      Object.freeze({ nodeType: "final-reduce", mapReduceLevel }),
      templates?.reduce,
    );
  }

  #composed(ensemble: EnsembleOptions): ComposedOptions {
    const { tasks, notes } = this.#book;
    const mode: EnsembleOptions =
      this.#strategy.kind === "static"
        ? { workflow: "PARALLEL" }
        : {
            workflow: MAP_REDUCE_ADAPTIVE,
            parallelErrorStrategy: ensemble.parallelErrorStrategy ?? "CONTINUE_ON_ERROR",
          };
    return { ...ensemble, ...mode, tasks, [TASK_NOTES]: notes };
  }
}

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}

/**
 * Adds the final value to the output object of the run. A copy would lose values that are created
 * on access.
 */
function withParsed<R>(
  output: EnsembleOutput,
  final: TaskOf<R>,
): EnsembleOutput & { readonly parsed: R } {
  const result = output.getOutput(final);
  const get = (): R => {
    if (result !== undefined) return result.parsed;
    throw new ValidationError(
      `The run ended with ${output.exitReason} before its final reduce, so there is no parsed value`,
      {
        hint: "Look at isComplete first.",
      },
    );
  };
  return Object.defineProperty(output, "parsed", {
    get,
    enumerable: result !== undefined,
    configurable: true,
  }) as EnsembleOutput & { readonly parsed: R }; // just defined
}
