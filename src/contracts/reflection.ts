import type { ModelRef } from "./chat-model.js";
import type { TaskOutput } from "./output.js";
import type { AnyTask } from "./task.js";
import type { Awaitable } from "./types.js";

/** What was learnt from doing a task: how it should be put next time. */
export interface TaskReflection {
  readonly refinedDescription: string;
  readonly refinedExpectedOutput: string;
  readonly observations: readonly string[];
  readonly suggestions: readonly string[];
  readonly reflectedAt: Date;
  /** How often the task has been reflected on, this time included. */
  readonly runCount: number;
  /** The source of text from outside that the run had read before the lesson was drawn, a tool for instance. A store keeps it: a run that reads the lesson counts as having read that text. */
  readonly untrusted?: string | undefined;
}

/** What a strategy draws from a task. */
export type TaskLesson = Omit<TaskReflection, "reflectedAt" | "runCount" | "untrusted">;

/** What a strategy is given. */
export interface ReflectionInput {
  /** As it was run, templates filled. */
  readonly task: AnyTask;
  /** As it was written, templates unfilled: what runs with other inputs have in common with this one, and are shown the lesson for. */
  readonly source: AnyTask;
  readonly output: TaskOutput;
  /** What was learnt before. */
  readonly previous: TaskReflection | undefined;
  readonly signal: AbortSignal;
  /** Asks the model of the reflection. Rejects with `ValidationError` where there is none. */
  ask(prompt: string): Promise<string>;
}

/** Draws the lesson from a finished task. Default: a model is asked. */
export interface ReflectionStrategy {
  /** Whether it calls `ask`. Default true. */
  readonly usesModel?: boolean | undefined;
  reflect(input: ReflectionInput): Awaitable<TaskLesson>;
}

/** Options of `Task.reflect`. */
export interface ReflectionOptions {
  /** Default: the model of the task. */
  readonly model?: ModelRef | undefined;
  readonly strategy?: ReflectionStrategy | undefined;
}

/** Keeps the latest reflection of each task. `identity` is the task's name, or its description as it was written, templates unfilled. */
export interface ReflectionStore {
  store(identity: string, reflection: TaskReflection): Promise<void>;
  retrieve(identity: string): Promise<TaskReflection | undefined>;
  /** Finds out whether the store can read and write its place, and changes nothing. The command `doctor` calls it. @throws MemoryStoreError or FileFormatError where it can't. */
  check?(): Awaitable<void>;
}
