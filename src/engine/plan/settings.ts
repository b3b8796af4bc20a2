import type { Container } from "inversify";
import type { Agent } from "../../contracts/agent.js";
import type { ChatModel, ModelRef } from "../../contracts/chat-model.js";
import type { EnsembleOptions } from "../../contracts/ensemble-options.js";
import type { WorkflowExecutor } from "../../contracts/executors.js";
import type { AnyTask } from "../../contracts/task.js";
import type { Token } from "../../contracts/token.js";
import type { KernelInternals } from "../../kernel/kernel.js";
import { ValidationError } from "../../contracts/errors.js";
import { modelNamed } from "../../contracts/model-name.js";
import { Tokens } from "../../contracts/tokens.js";
import { createToken } from "../../contracts/token.js";
import { knownNames } from "../../contracts/validation.js";
import { JsonSchemaValidators } from "../../util/schema/json-schema.js";

/** Models created from names. All runs of a kernel share their connections. */
const NamedModels = createToken<Map<string, ChatModel>>("engine/NamedModels");
const NONE: readonly never[] = Object.freeze([]);
const NO_VALUES: ReadonlyMap<unknown, unknown> = new Map();
const SchemaValidators = createToken<JsonSchemaValidators>("engine/SchemaValidators");

/** Looks up settings in order: run bindings, run values, ensemble options, container, defaults. */
export class Settings {
  readonly #values = new Map<unknown, unknown>();
  #models: Map<string, ChatModel> | undefined;

  constructor(
    readonly kernel: KernelInternals,
    readonly options: EnsembleOptions,
    /** Bindings of this run only. */
    readonly own: Container | undefined,
    /** Values of this run and of the run that it joined, by token. */
    readonly given: ReadonlyMap<unknown, unknown> = NO_VALUES,
  ) {
    for (const [token, value] of given) this.#option(token as Token<unknown>, value);
    this.#option(Tokens.AgentSynthesizer, options.agentSynthesizer);
    this.#option(Tokens.HierarchicalConstraints, options.hierarchicalConstraints);
    this.#option(Tokens.MemoryStore, options.memoryStore);
    this.#option(Tokens.ReviewHandler, options.reviewHandler);
    this.#option(Tokens.ReflectionStore, options.reflectionStore);
    this.#option(Tokens.CostConfiguration, options.costConfiguration);
  }

  /** @throws ValidationError for an unbound token. */
  get<T>(token: Token<T>): T {
    const known = this.#values.get(token);
    if (known !== undefined) return known as T; // stored under this token
    const value =
      this.#isOwn(token) && this.own !== undefined
        ? this.own.get<T>(token)
        : this.kernel.bindings.get(token);
    this.#values.set(token, value);
    return value;
  }

  find<T>(token: Token<T>): T | undefined {
    if (this.#values.has(token) || this.#isOwn(token)) return this.get(token);
    const value = this.kernel.bindings.find(token);
    if (value !== undefined) this.#values.set(token, value);
    return value;
  }

  /** Returns the container's, the ensemble's, then the run's values; the same array each time. */
  all<T>(token: Token<T, "many">): readonly T[] {
    const known = this.#values.get(token);
    if (known !== undefined) return known as readonly T[]; // stored under this token
    const base = this.kernel.bindings.all(token);
    const contributed = this.#contributed(token) as readonly T[];
    const own = this.#isOwn(token) && this.own !== undefined ? this.own.getAll<T>(token) : NONE;
    if (contributed.length === 0 && own.length === 0) return base; // the kernel caches it
    const list = Object.freeze([...base, ...contributed, ...own]);
    this.#values.set(token, list);
    return list;
  }

  /** Returns a task's model: the run's binding, or the agent's, task's, ensemble's, container's. */
  model(
    task: Pick<AnyTask, "model"> | undefined,
    agent: Pick<Agent, "model"> | undefined,
  ): ChatModel | undefined {
    if (this.#isOwn(Tokens.ChatModel) || this.given.has(Tokens.ChatModel))
      return this.get(Tokens.ChatModel);
    const ref = agent?.model ?? task?.model ?? this.options.model;
    return ref === undefined ? this.find(Tokens.ChatModel) : this.resolve(ref);
  }

  /** Returns the model with a name. @throws ValidationError with the names of the providers. */
  resolve(ref: ModelRef): ChatModel {
    if (typeof ref !== "string") return ref;
    const cache = this.#isOwn(Tokens.ChatModelProvider)
      ? (this.#models ??= new Map<string, ChatModel>())
      : this.kernel.shared(NamedModels, () => new Map<string, ChatModel>());
    const known = cache.get(ref);
    if (known !== undefined) return known;
    const model = modelNamed(ref, this.all(Tokens.ChatModelProvider));
    cache.set(ref, model);
    return model;
  }

  /** @throws ValidationError with the names of the workflows. */
  workflow(name: string): WorkflowExecutor {
    const workflows = this.all(Tokens.WorkflowExecutor);
    const found = workflows.findLast((w) => w.name === name);
    if (found !== undefined) return found;
    const names = [...new Set(workflows.map((w) => w.name))];
    throw new ValidationError(`Unknown workflow '${name}'. ${knownNames(name, names)}`);
  }

  /** Validators of tools' plain JSON Schemas, prepared once per kernel. */
  get schemaValidators(): JsonSchemaValidators {
    return this.kernel.shared(SchemaValidators, () => new JsonSchemaValidators());
  }

  /** Sets a run value or ensemble option. It precedes the container and follows run bindings. */
  #option<T>(token: Token<T>, value: T | undefined): void {
    if (value !== undefined && !this.#values.has(token) && !this.#isOwn(token))
      this.#values.set(token, value);
  }

  #isOwn(token: Token<unknown, "single" | "many">): boolean {
    return this.own !== undefined && this.own.isCurrentBound(token);
  }

  /** Returns the ensemble options' contributions to a token that collects. */
  #contributed(token: unknown): readonly unknown[] {
    const { prompts, traceExporter, delegationPolicies } = this.options;
    if (token === Tokens.DelegationPolicy) return delegationPolicies ?? NONE;
    if (token === Tokens.PromptTemplates && prompts !== undefined) return [prompts];
    if (token === Tokens.TraceExporter && traceExporter !== undefined)
      return Array.isArray(traceExporter) ? traceExporter : [traceExporter];
    return NONE;
  }
}
