import type { After, PromptSection, Replace, TaskCall } from "../../../contracts/hooks.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { RunInfo } from "../../../contracts/run.js";
import type { Awaitable } from "../../../contracts/types.js";
import { replace } from "../../../contracts/hooks.js";
import { Tokens } from "../../../contracts/tokens.js";
import { emitEvent, PromptLibrary, settingsOf } from "../../../kernel/index.js";
import { RunMemory } from "./run-memory.js";
import { MEMORY_TEMPLATES } from "./templates.js";

type Patch = Replace<Partial<Pick<TaskCall, "promptSections" | "contextOutputs">>>;

/** Finds the memory of a task's run, where the task has any. */
export class TaskMemories {
  readonly #library = new PromptLibrary(MEMORY_TEMPLATES);
  readonly #runs = new WeakMap<RunInfo, RunMemory>();

  /** Says of an option that it does nothing. */
  check(run: RunInfo): void {
    const settings = settingsOf(run);
    const { memory, memoryErrors } = settings.options;
    if (
      memoryErrors === undefined ||
      memory !== undefined ||
      settings.find(Tokens.MemoryStore) !== undefined
    )
      return;
    emitEvent(run, {
      type: "run_warning",
      message: "Option 'memoryErrors' has no effect without memory or memoryStore",
    });
  }

  /** Puts what is remembered into the prompt. A handler has none, and reads for itself. */
  tell(call: TaskCall): Awaitable<void | Patch> {
    const memory = this.#memoryOf(call);
    if (memory?.isSentBack(call) === true)
      return memory.takeBack(call).then(() => this.#told(call, memory));
    return this.#told(call, memory);
  }

  /** Remembers an output that has been done and accepted. */
  keep(call: After<TaskCall, "output", TaskOutput>): Awaitable<void> {
    return call.outcome === "ok" ? this.#memoryOf(call)?.keep(call) : undefined;
  }

  #told(call: TaskCall, memory: RunMemory | undefined): Awaitable<void | Patch> {
    const sections = call.task.handler === undefined ? memory?.sectionsFor(call) : undefined;
    return sections instanceof Promise
      ? sections.then((s) => added(call, s))
      : added(call, sections);
  }

  #memoryOf({ run, task }: TaskCall): RunMemory | undefined {
    const known = this.#runs.get(run);
    if (known !== undefined) return known;
    const settings = settingsOf(run);
    if (task.memory.length === 0 && settings.options.memory === undefined) return undefined;
    const memory = new RunMemory(
      run,
      settings,
      this.#library.textsOf(settings.all(Tokens.PromptTemplates)),
    );
    this.#runs.set(run, memory);
    return memory;
  }
}

function added(call: TaskCall, sections: readonly PromptSection[] = []): void | Patch {
  if (sections.length > 0)
    return replace({ promptSections: [...call.promptSections, ...sections] });
}
