import type { PromptText } from "../../contracts/prompt-text.js";
import type { AnyTask } from "../../contracts/task.js";
import type { Inputs } from "../../contracts/types.js";
import { Agent } from "../../contracts/agent.js";
import { PromptTemplateError } from "../../contracts/errors.js";
import { Task } from "../../contracts/task.js";
import { fillTemplate, variablesIn } from "../../contracts/template.js";

/** Fills the texts of tasks and collects the variables without a value. */
export class TextFiller {
  /** Names of inputs that appear in texts that are not templates. */
  readonly unfilled = new Set<string>();
  readonly #missing = new Set<string>();
  readonly #inputs: Inputs;
  #first: { readonly task: AnyTask; readonly text: string } | undefined;

  constructor(inputs: Inputs) {
    this.#inputs = inputs;
  }

  /** Fills texts and memory scopes. `templateLength`: only the start of the description. */
  fill(task: AnyTask, templateLength?: number): AnyTask {
    this.#checkOthers(task);
    return this.fillScopes(this.#fillTexts(task, templateLength));
  }

  /** Fills the names of memory scopes. Runs with other inputs then use other scopes. */
  fillScopes(task: AnyTask): AnyTask {
    if (!task.memory.some(({ name }) => name.includes("{"))) return task;
    const memory = task.memory.map((scope) => scope.named(this.#text(task, scope.name)));
    return copyOf(task, { memory: Object.freeze(memory) });
  }

  #fillTexts(task: AnyTask, templateLength: number | undefined): AnyTask {
    if (!task.template) return task;
    if (templateLength === undefined) {
      const { description, expectedOutput } = Task.promptsOf(task);
      return withTexts(
        task,
        this.#text(task, description ?? task.description),
        this.#text(task, expectedOutput ?? task.expectedOutput),
      );
    }
    const data = task.description.slice(templateLength);
    for (const text of [data, task.expectedOutput]) {
      for (const name of variablesIn(text))
        if (Object.hasOwn(this.#inputs, name)) this.unfilled.add(name);
    }
    if (templateLength === 0) return task;
    const start = this.#text(task, task.description.slice(0, templateLength));
    return withTexts(task, start + data, task.expectedOutput);
  }

  /** @throws PromptTemplateError that names every missing variable of all tasks. */
  check(): void {
    if (this.#first === undefined) return;
    const { task, text } = this.#first;
    throw new PromptTemplateError([...this.#missing], text, {
      task: task.name ?? task.description,
    });
  }

  /** Finds missing variables before the run in prompt texts that are filled at their use. */
  #checkOthers(task: AnyTask): void {
    const agent = task.agent === undefined ? undefined : Agent.promptsOf(task.agent);
    const reviews = [task.review?.prompt, task.beforeReview?.prompt];
    for (const text of [agent?.goal, agent?.background, ...reviews])
      if (text !== undefined && typeof text !== "string") this.#text(task, text);
  }

  #text(task: AnyTask, text: string | PromptText): string {
    const before = this.#missing.size;
    const filled =
      typeof text === "string"
        ? fillTemplate(text, this.#inputs, this.#missing)
        : text.fill(this.#inputs, this.#missing);
    if (this.#missing.size > before) this.#first ??= { task, text: String(text) };
    return filled;
  }
}

function withTexts(task: AnyTask, description: string, expectedOutput: string): AnyTask {
  if (description === task.description && expectedOutput === task.expectedOutput) return task;
  return copyOf(task, { description, expectedOutput });
}

/** Returns a copy with other fields. Skips the checks that the constructor has already made. */
function copyOf(task: AnyTask, changes: Partial<AnyTask>): AnyTask {
  return Object.freeze(
    Object.assign(Object.create(Task.prototype) as object, task, changes),
  ) as AnyTask; // same class, same fields
}
