import type { ChatModel } from "../../contracts/chat-model.js";
import type { PlannedTask } from "../../contracts/plan.js";
import type { Redactor, SecretFilter } from "../../contracts/redaction.js";
import type { Settings } from "../plan/settings.js";
import { Tokens } from "../../contracts/tokens.js";
import { createRedactor } from "../../util/redaction/redactor.js";

/**
 * Redacts the secrets of a run. Created at first use, because it reads the environment. Covers the
 * models of the plan, models called later, and the models of joined runs.
 */
export class RunRedactor implements Redactor {
  readonly #settings: Settings;
  readonly #models = new Set<ChatModel>();
  readonly #parent: RunRedactor | undefined;
  #tasks: readonly PlannedTask[];
  #made: Redactor | undefined;

  constructor(settings: Settings, tasks: readonly PlannedTask[], parent?: RunRedactor) {
    this.#settings = settings;
    this.#tasks = tasks;
    this.#parent = parent;
  }

  redactText(text: string): string {
    return this.#redactor().redactText(text);
  }

  redactValue(value: unknown): unknown {
    return this.#redactor().redactValue(value);
  }

  /** Adds a model that is called. */
  knows(model: ChatModel): void {
    this.#models.add(model);
    this.#parent?.knows(model);
  }

  /** Releases the plan of an ended run. Outputs keep their redactor. */
  close(): void {
    this.#tasks = [];
  }

  #redactor(): Redactor {
    return (this.#made ??= this.#make());
  }

  #make(): Redactor {
    const { model: ofEnsemble } = this.#settings.options;
    if (typeof ofEnsemble === "object") this.#models.add(ofEnsemble); // even if no task calls it
    for (const { task, agent } of this.#tasks) {
      // Validation has resolved the names of models.
      const model = task.handler === undefined ? this.#settings.model(task, agent) : undefined;
      if (model !== undefined) this.#models.add(model);
    }
    const bound = this.#settings.all(Tokens.SecretFilter);
    return createRedactor({ filters: () => this.#filters(bound) });
  }

  *#filters(bound: readonly SecretFilter[]): Generator<SecretFilter> {
    yield* bound;
    for (const model of this.#models)
      if (typeof model.redact === "function") yield (text) => model.redact?.(text) ?? text;
  }
}
