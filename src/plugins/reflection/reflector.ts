import type { PromptSection, TaskCall } from "../../contracts/hooks.js";
import type { TaskOutput } from "../../contracts/output.js";
import type {
  ReflectionOptions,
  ReflectionStore,
  TaskLesson,
  TaskReflection,
} from "../../contracts/reflection.js";
import type { OutsideCall } from "../../contracts/outside.js";
import type { HookRun } from "../../contracts/run.js";

import { preview } from "../../contracts/validation.js";
import { Tokens } from "../../contracts/tokens.js";
import { askOutside } from "../../contracts/outside.js";
import { isObject } from "../../util/objects.js";
import { hasText } from "../../util/text.js";
import { noteKeptSource } from "../shared/memory/kept-source.js";
import { PromptLibrary } from "../shared/prompts/prompt-library.js";
import { llmStrategy } from "./llm-strategy.js";
import { notesText } from "./notes.js";
import { REFLECTION_TEMPLATES } from "./reflection-prompts.js";
import { messageOf } from "../../util/errors.js";

/** Reads and writes the lessons of tasks. */
export class Reflector {
  readonly #library = new PromptLibrary(REFLECTION_TEMPLATES);
  readonly #warned = new WeakSet<HookRun>();

  /** `ephemeral`: the default store, used if no other store is bound. */
  constructor(readonly ephemeral: ReflectionStore) {}

  /** Returns the lesson of earlier executions, for the prompt. */
  async notes(call: TaskCall): Promise<PromptSection | undefined> {
    return this.#tried(call, "could not be read", async () => {
      const known = await this.#known(call);
      return known === undefined
        ? undefined
        : { slot: "improvement" as const, text: notesText(known, this.#texts(call)), data: known };
    });
  }

  /** Derives the lesson and stores it. */
  async reflect(call: TaskCall, output: TaskOutput): Promise<void> {
    await this.#tried(call, "could not be completed", async () => {
      const store = this.#store(call);
      if (store === this.ephemeral) this.#warnOnce(call.run);
      const identity = identityOf(call);
      const previous = await this.#known(call);
      const options: ReflectionOptions =
        typeof call.task.reflect === "object" ? call.task.reflect : {};
      const strategy = options.strategy ?? llmStrategy(this.#texts(call));
      const { task, signal } = call;
      const lesson = await strategy.reflect({
        task,
        source: call.source,
        output,
        previous,
        signal,
        ask: (prompt) => askForNotes(call, prompt, options),
      });
      const reflection = complete(lesson, previous, call.run);
      await askOutside({ ...outside(call), kind: "change", name: "lesson" }, () =>
        store.store(identity, reflection),
      );
      call.run.emit({
        type: "task_reflected",
        taskId: call.taskId,
        ...(call.parentTaskId !== undefined && { parentTaskId: call.parentTaskId }),
        agentRole: output.agentRole,
        taskDescription: call.task.description,
        reflection,
        isFirstReflection: previous === undefined,
      });
    });
  }

  /**
   * Returns the stored reflection. A store can be user code. A database store may return null for a
   * missing reflection.
   * @throws Error for a value that is not a reflection.
   */
  async #known(call: TaskCall): Promise<TaskReflection | undefined> {
    const found: unknown = await askOutside<unknown>(
      { ...outside(call), kind: "read", name: "lesson", codec: LESSON },
      () => this.#store(call).retrieve(identityOf(call)),
    );
    if (found === undefined || found === null) return undefined;
    // any value is possible
    const { runCount, untrusted } = found as Partial<Record<keyof TaskReflection, unknown>>;
    const isMarked = untrusted !== undefined && untrusted !== null; // a database store may return null
    if (!isLesson(found) || !Number.isFinite(runCount) || (isMarked && !hasText(untrusted)))
      throw new Error(
        `retrieve() of the reflectionStore must return a reflection or undefined, got ${preview(found)}`,
      );
    if (hasText(untrusted)) noteKeptSource(call.run, "lesson drawn", untrusted);
    return found as TaskReflection; // checked, except the date, which is not read here
  }

  #store({ run }: TaskCall): ReflectionStore {
    return run.get(Tokens.ReflectionStore);
  }

  #texts({
    run,
  }: TaskCall): ReturnType<PromptLibrary<keyof typeof REFLECTION_TEMPLATES>["textsOf"]> {
    return this.#library.textsOf(run.all(Tokens.PromptTemplates), run);
  }

  /** Emits a failure as a warning, because a lesson is not part of the task's result. */
  async #tried<T>(call: TaskCall, what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!call.signal.aborted)
        call.run.warn(
          `The reflection of task '${call.task.description.slice(0, 80)}' ${what}: ${messageOf(error)}`,
        );
      return undefined;
    }
  }

  #warnOnce(run: HookRun): void {
    if (this.#warned.has(run)) return;
    this.#warned.add(run);
    const message =
      "Tasks reflect, but no reflectionStore is configured: what is learnt is lost with this process. Use ReflectionStore.file(path).";
    run.warn(message);
  }
}

const LESSON: OutsideCall["codec"] = {
  toJson: (found) => found,
  fromJson: (found) =>
    isObject(found) ? { ...found, reflectedAt: new Date(String(found["reflectedAt"])) } : found,
};

function outside({
  run,
  taskId,
  signal,
}: TaskCall): Pick<OutsideCall, "run" | "taskId" | "signal"> {
  return { run, taskId, signal };
}

/**
 * Returns the name of the task, or the template of its description. Executions with other inputs
 * therefore share the lesson.
 */
function identityOf(call: TaskCall): string {
  return call.task.name ?? call.source.description;
}

async function askForNotes(
  call: TaskCall,
  prompt: string,
  { model }: ReflectionOptions,
): Promise<string> {
  const chosen = model === undefined ? undefined : call.run.resolveModel(model);
  const response = await call.run.chat(
    call,
    { messages: [{ role: "user", content: prompt }] },
    { purpose: "reflection", model: chosen },
  );
  return response.message.content;
}

/** @throws Error for an invalid lesson, because a strategy can be user code. */
function complete(
  lesson: unknown,
  previous: TaskReflection | undefined,
  run: HookRun,
): TaskReflection {
  if (!isLesson(lesson))
    throw new Error(
      "the strategy must return { refinedDescription, refinedExpectedOutput, observations, suggestions }",
    );
  const { refinedDescription, refinedExpectedOutput, observations, suggestions } = lesson;
  return Object.freeze({
    refinedDescription,
    refinedExpectedOutput,
    observations,
    suggestions,
    reflectedAt: run.get(Tokens.Clock).now(),
    runCount: (previous?.runCount ?? 0) + 1,
    ...(run.untrustedSource !== undefined && { untrusted: run.untrustedSource }),
  });
}

function isLesson(value: unknown): value is TaskLesson {
  const { refinedDescription, refinedExpectedOutput, observations, suggestions } = (value ??
    {}) as Partial<Record<keyof TaskReflection, unknown>>; // each field is checked
  return (
    typeof refinedDescription === "string" &&
    typeof refinedExpectedOutput === "string" &&
    areTexts(observations) &&
    areTexts(suggestions)
  );
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
