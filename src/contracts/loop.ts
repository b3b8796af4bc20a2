import type { TaskOutput } from "./output.js";
import type { AnyTask, Task } from "./task.js";
import { ValidationError } from "./errors.js";
import { checkTaskList } from "./phase.js";
import {
  checkOptions,
  knownNames,
  preview,
  requireFunction,
  requireInteger,
} from "./validation.js";

/** Finds outputs by their task. */
export interface OutputLookup {
  getOutput<U>(task: Task<U>): TaskOutput<U> | undefined;
}

/** The argument of a loop's predicate after each iteration. */
export interface LoopIteration extends OutputLookup {
  /** Counted from 1. */
  readonly iterationNumber: number;
  readonly lastIterationOutputs: readonly TaskOutput[];
  readonly lastBodyOutput: TaskOutput;
  /** The outputs of all iterations so far, including the last one. */
  readonly history: readonly (readonly TaskOutput[])[];
}

/** The course of a loop in a run. */
export interface LoopHistory {
  readonly iterations: readonly (readonly TaskOutput[])[];
  readonly terminationReason: "predicate" | "maxIterations";
  readonly stoppedByMaxIterations: boolean;
}

/** Options of a loop. */
export interface LoopOptions {
  readonly name: string;
  /** The tasks of an iteration, executed in this order. */
  readonly tasks: readonly AnyTask[];
  /**
   * Called after each iteration. Returns whether the loop ends. Default: the loop ends after
   * `maxIterations`.
   */
  readonly until?: ((it: LoopIteration) => boolean) | undefined;
  /** Limit of iterations. Default 5. */
  readonly maxIterations?: number | undefined;
  /**
   * Reaction to the limit of iterations. RETURN_LAST (default) ends the loop with its last outputs.
   * THROW fails the run with MaxLoopIterationsExceededError. RETURN_WITH_FLAG equals RETURN_LAST
   * and documents that the program reads `stoppedByMaxIterations`.
   */
  readonly onMaxIterations?: "RETURN_LAST" | "THROW" | "RETURN_WITH_FLAG" | undefined;
  /**
   * The outputs of the loop. Default LAST_ITERATION. ALL_ITERATIONS joins the texts of all
   * iterations.
   */
  readonly outputMode?: "LAST_ITERATION" | "FINAL_TASK_ONLY" | "ALL_ITERATIONS" | undefined;
  /**
   * The contents of the `memory` scopes of the loop's tasks at the start of each further iteration.
   * ACCUMULATE (default) keeps everything. FRESH_PER_ITERATION removes all entries, including
   * entries of other writers. WINDOW keeps the last `memoryWindowSize` entries of each scope.
   */
  readonly memoryMode?: "ACCUMULATE" | "FRESH_PER_ITERATION" | "WINDOW" | undefined;
  /**
   * Number of entries kept by WINDOW, at least 1. Required with WINDOW and not allowed otherwise.
   */
  readonly memoryWindowSize?: number | undefined;
  /** Whether the first task of each further iteration receives the last output. Default true. */
  readonly injectFeedback?: boolean | undefined;
  /** Tasks outside of the loop that must end before the loop starts. Default: none. */
  readonly context?: readonly AnyTask[] | undefined;
}

const FIELDS = [
  "name",
  "tasks",
  "until",
  "maxIterations",
  "onMaxIterations",
  "outputMode",
  "memoryMode",
  "memoryWindowSize",
  "injectFeedback",
  "context",
];
const ON_MAX = ["RETURN_LAST", "THROW", "RETURN_WITH_FLAG"];
const MEMORY_MODES = ["ACCUMULATE", "FRESH_PER_ITERATION", "WINDOW"];
const MODES = ["LAST_ITERATION", "FINAL_TASK_ONLY", "ALL_ITERATIONS"];

/**
 * Checks that a value is one of a list.
 * @throws ValidationError with the allowed values.
 */
export function requireOneOf(what: string, value: unknown, known: readonly string[]): void {
  if (value !== undefined && !known.includes(value as string))
    throw new ValidationError(
      `${what} must be one of ${known.join(", ")}, got: ${preview(value)}. ${knownNames(preview(value), known)}`,
    );
}

/** A group of tasks that is repeated until a predicate returns true. Immutable. */
export class Loop {
  readonly name: string;
  readonly tasks: readonly AnyTask[];
  readonly until: ((it: LoopIteration) => boolean) | undefined;
  readonly maxIterations: number;
  readonly onMaxIterations: "RETURN_LAST" | "THROW" | "RETURN_WITH_FLAG";
  readonly outputMode: "LAST_ITERATION" | "FINAL_TASK_ONLY" | "ALL_ITERATIONS";
  readonly memoryMode: "ACCUMULATE" | "FRESH_PER_ITERATION" | "WINDOW";
  /** Present only with WINDOW. */
  readonly memoryWindowSize: number | undefined;
  readonly injectFeedback: boolean;
  readonly context: readonly AnyTask[];

  /** @throws ValidationError */
  constructor(o: LoopOptions) {
    checkOptions("Loop", o, FIELDS);
    if (typeof o.name !== "string" || o.name.trim() === "")
      throw new ValidationError("Loop name must be non-blank");
    if (!Array.isArray(o.tasks) || o.tasks.length === 0)
      throw new ValidationError(`Loop '${o.name}' body must contain at least one task`);
    checkTaskList(`Loop '${o.name}' tasks`, o.tasks);
    requireFunction(`Loop '${o.name}' until`, o.until);
    requireInteger(`Loop '${o.name}' maxIterations`, o.maxIterations, 1);
    requireOneOf(`Loop '${o.name}' onMaxIterations`, o.onMaxIterations, ON_MAX);
    requireOneOf(`Loop '${o.name}' outputMode`, o.outputMode, MODES);
    checkLoopMemory(o);
    if (o.context !== undefined) checkTaskList(`Loop '${o.name}' context`, o.context);
    checkBody(o.name, o.tasks);
    this.name = o.name;
    this.tasks = Object.freeze([...(o.tasks as readonly AnyTask[])]);
    this.until = o.until;
    this.maxIterations = o.maxIterations ?? 5;
    this.onMaxIterations = o.onMaxIterations ?? "RETURN_LAST";
    this.outputMode = o.outputMode ?? "LAST_ITERATION";
    this.memoryMode = o.memoryMode ?? "ACCUMULATE";
    this.memoryWindowSize = o.memoryWindowSize;
    this.injectFeedback = o.injectFeedback ?? true;
    this.context = Object.freeze([...(o.context ?? [])]);
    Object.freeze(this);
  }
}

/** Requires a window size with WINDOW, and refuses a window size without WINDOW. */
function checkLoopMemory({ name, memoryMode, memoryWindowSize }: LoopOptions): void {
  requireOneOf(`Loop '${name}' memoryMode`, memoryMode, MEMORY_MODES);
  if (memoryMode === "WINDOW") {
    if (
      memoryWindowSize === undefined ||
      !Number.isInteger(memoryWindowSize) ||
      memoryWindowSize < 1
    )
      throw new ValidationError(
        `Loop '${name}' memoryMode WINDOW requires memoryWindowSize >= 1, got: ${preview(memoryWindowSize)}`,
      );
  } else if (memoryWindowSize !== undefined) {
    const mode = memoryMode ?? "ACCUMULATE";
    throw new ValidationError(
      `Loop '${name}' memoryWindowSize is only for memoryMode WINDOW, but memoryMode is ${mode}`,
      {
        hint: 'Set memoryMode: "WINDOW", or leave memoryWindowSize out.',
      },
    );
  }
}

/**
 * Requires distinct names or descriptions of the loop's tasks, and no context outside of the loop.
 */
function checkBody(name: string, tasks: readonly AnyTask[]): void {
  const keys = new Set<string>();
  for (const task of tasks) {
    const key = task.name ?? task.description;
    if (keys.has(key))
      throw new ValidationError(
        `Loop '${name}' body has duplicate task name/description: '${key}'. Body tasks must be uniquely identifiable.`,
      );
    keys.add(key);
    if (task.context.some((context) => !tasks.includes(context))) {
      throw new ValidationError(
        `Loop '${name}' body task '${key}' has a task outside the loop body in its \`context\`. What the loop waits for stands in the \`context\` of the loop itself.`,
        { hint: "Put the outer task into the loop's own `context`." },
      );
    }
  }
}
