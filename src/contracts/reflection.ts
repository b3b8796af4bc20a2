import type { ModelRef } from "./chat-model.js";
import type { TaskOutput } from "./output.js";
import type { AnyTask } from "./task.js";
import type { Awaitable } from "./types.js";

/** The lesson learned from a task: improvements of its instructions for the next run. */
export interface TaskReflection {
  readonly refinedDescription: string;
  readonly refinedExpectedOutput: string;
  readonly observations: readonly string[];
  readonly suggestions: readonly string[];
  readonly reflectedAt: Date;
  /** Number of reflections on the task, including this reflection. */
  readonly runCount: number;
  /**
   * The source of the outside text that the run had read before the reflection, for instance a
   * tool. A store must keep this field: a run that reads the reflection counts as having read that
   * text.
   */
  readonly untrusted?: string | undefined;
}

/** The lesson that a strategy returns. */
export type TaskLesson = Omit<TaskReflection, "reflectedAt" | "runCount" | "untrusted">;

/** The input of a strategy. */
export interface ReflectionInput {
  /** The task with filled templates. */
  readonly task: AnyTask;
  /**
   * The task with unfilled templates. Runs with other inputs share this task and receive the
   * lesson.
   */
  readonly source: AnyTask;
  readonly output: TaskOutput;
  /** The previous reflection. */
  readonly previous: TaskReflection | undefined;
  readonly signal: AbortSignal;
  /**
   * Calls the model for reflections with a prompt and returns its answer. Rejects with
   * `ValidationError` if there is no such model.
   */
  ask(prompt: string): Promise<string>;
}

/** Derives a lesson from a finished task. Default: a model derives the lesson. */
export interface ReflectionStrategy {
  /** Whether the strategy calls `ask`. Default true. */
  readonly usesModel?: boolean | undefined;
  reflect(input: ReflectionInput): Awaitable<TaskLesson>;
}

/** Options of `Task.reflect`. */
export interface ReflectionOptions {
  /** The model for the reflection. Default: the model of the task. */
  readonly model?: ModelRef | undefined;
  readonly strategy?: ReflectionStrategy | undefined;
}

/**
 * Stores the latest reflection of each task. `identity` is the task's name, or its description with
 * unfilled templates.
 */
export interface ReflectionStore {
  store(identity: string, reflection: TaskReflection): Promise<void>;
  retrieve(identity: string): Promise<TaskReflection | undefined>;
  /**
   * Checks that the store can read and write its storage, without changing any data. The command
   * `doctor` calls it.
   * @throws MemoryStoreError or FileFormatError if the storage can't be used.
   */
  check?(): Awaitable<void>;
}
