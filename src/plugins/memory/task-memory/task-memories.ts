import type { After, PromptSection, Replace, TaskCall } from "../../../contracts/hooks.js";
import type { TaskOutput } from "../../../contracts/output.js";
import type { HookRun } from "../../../contracts/run.js";
import type { Awaitable } from "../../../contracts/types.js";
import { replace } from "../../../contracts/hooks.js";
import { Tokens } from "../../../contracts/tokens.js";
import { PromptLibrary } from "../../shared/prompts/prompt-library.js";
import { RunMemory } from "./run-memory.js";
import { MEMORY_TEMPLATES } from "./task-memory-prompts.js";

type Patch = Replace<Partial<Pick<TaskCall, "promptSections" | "contextOutputs">>>;

/** Returns the memory of a task's run, if the task uses memory. */
export class TaskMemories {
  readonly #library = new PromptLibrary(MEMORY_TEMPLATES);
  readonly #runs = new WeakMap<HookRun, RunMemory>();

  /** Warns about an option that has no effect. */
  check(run: HookRun): void {
    const { memory, memoryErrors } = run.options;
    if (memoryErrors === undefined || memory !== undefined) return;
    if (run.find(Tokens.MemoryStore) === undefined)
      run.warn("Option 'memoryErrors' has no effect without memory or memoryStore");
  }

  /** Adds memory to the prompt. A handler has no prompt and reads memory itself. */
  tell(call: TaskCall): Awaitable<void | Patch> {
    const memory = this.#memoryOf(call);
    if (memory?.isSentBack(call) === true)
      return memory.takeBack(call).then(() => this.#told(call, memory));
    return this.#told(call, memory);
  }

  /** Stores an accepted output. */
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
    if (task.memory.length === 0 && run.options.memory === undefined) return undefined;
    const memory = new RunMemory(run, this.#library.textsOf(run.all(Tokens.PromptTemplates), run));
    this.#runs.set(run, memory);
    return memory;
  }
}

function added(call: TaskCall, sections: readonly PromptSection[] = []): void | Patch {
  if (sections.length > 0)
    return replace({ promptSections: [...call.promptSections, ...sections] });
}
