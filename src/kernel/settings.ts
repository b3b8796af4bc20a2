import type { Container } from "inversify";
import type { Agent } from "../contracts/agent.js";
import type { ChatModel, ChatModelProvider, ModelRef } from "../contracts/chat-model.js";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { AnyTask } from "../contracts/task.js";
import type { Token } from "../contracts/tokens.js";
import type { KernelInternals } from "./kernel.js";
import {
  AgentEnsembleError,
  PluginError,
  ValidationError,
  messageOf,
} from "../contracts/errors.js";
import { Tokens } from "../contracts/tokens.js";
import { knownNames, preview } from "../contracts/validation.js";

/** Looks up what a run may override: its own bindings, the ensemble's options, the container, its defaults, in this order. */
export class Settings {
  readonly #values = new Map<unknown, unknown>();
  readonly #models = new Map<string, ChatModel>();

  constructor(
    readonly kernel: KernelInternals,
    readonly options: EnsembleOptions,
    /** Bindings of this run only. */
    readonly own: Container | undefined,
  ) {
    this.#option(Tokens.AgentSynthesizer, options.agentSynthesizer);
    this.#option(Tokens.HierarchicalConstraints, options.hierarchicalConstraints);
    this.#option(Tokens.MemoryStore, options.memoryStore);
    this.#option(Tokens.ReviewHandler, options.reviewHandler);
    this.#option(Tokens.ReflectionStore, options.reflectionStore);
    this.#option(Tokens.CostConfiguration, options.costConfiguration);
  }

  /** @throws ValidationError where nothing is bound. */
  get<T>(token: Token<T>): T {
    const known = this.#values.get(token);
    if (known !== undefined) return known as T; // stored under this very token
    const value =
      this.#isOwn(token) && this.own !== undefined
        ? this.own.get<T>(token)
        : this.kernel.bindings.get(token);
    this.#values.set(token, value);
    return value;
  }

  find<T>(token: Token<T>): T | undefined {
    return this.#values.has(token) || this.#isOwn(token) || this.kernel.bindings.isBound(token)
      ? this.get(token)
      : undefined;
  }

  /** All contributions: the container's, then the ensemble's, then the run's. The same array for the whole run. */
  all<T>(token: Token<T, "many">): readonly T[] {
    const known = this.#values.get(token);
    if (known !== undefined) return known as readonly T[]; // stored under this very token
    const base = this.kernel.bindings.all(token);
    const added = [
      ...(this.#contributed(token) as T[]),
      ...(this.#isOwn(token) && this.own !== undefined ? this.own.getAll<T>(token) : []),
    ]; // see #contributed
    const list = added.length === 0 ? base : Object.freeze([...base, ...added]);
    this.#values.set(token, list);
    return list;
  }

  /** The model of a task: the run's own binding, the agent's, the task's, the ensemble's, the container's. */
  model(task: AnyTask, agent: Agent | undefined): ChatModel | undefined {
    if (this.#isOwn(Tokens.ChatModel)) return this.get(Tokens.ChatModel);
    const ref = agent?.model ?? task.model ?? this.options.model;
    return ref === undefined ? this.find(Tokens.ChatModel) : this.resolve(ref);
  }

  /** A model from its name. @throws ValidationError naming the providers there are. */
  resolve(ref: ModelRef): ChatModel {
    if (typeof ref !== "string") return ref;
    const cache = this.#isOwn(Tokens.ChatModelProvider) ? this.#models : this.kernel.models;
    const known = cache.get(ref);
    if (known !== undefined) return known;
    const providers = this.all(Tokens.ChatModelProvider);
    const [, name, modelId] = /^([^:]*):(.+)$/s.exec(ref) ?? [];
    const provider = providers.findLast((p) => p.name === name);
    if (name === undefined || modelId === undefined || provider === undefined)
      throw unknownModel(ref, name, providers);
    const model = createModel(provider, modelId);
    cache.set(ref, model);
    return model;
  }

  /** An ensemble option stands before the container, behind the run's own binding. */
  #option<T>(token: Token<T>, value: T | undefined): void {
    if (value !== undefined && !this.#isOwn(token)) this.#values.set(token, value);
  }

  #isOwn(token: Token<unknown, "single" | "many">): boolean {
    return this.own !== undefined && this.own.isCurrentBound(token);
  }

  /** What the ensemble's options add to a token that collects. */
  #contributed(token: unknown): readonly unknown[] {
    const { prompts, traceExporter, delegationPolicies } = this.options;
    if (token === Tokens.DelegationPolicy) return delegationPolicies ?? [];
    if (token === Tokens.PromptTemplates && prompts !== undefined) return [prompts];
    if (token === Tokens.TraceExporter && traceExporter !== undefined)
      return Array.isArray(traceExporter) ? traceExporter : [traceExporter];
    return [];
  }
}

/** `provider` is undefined where the reference is none. */
function unknownModel(
  ref: string,
  provider: string | undefined,
  providers: readonly ChatModelProvider[],
): ValidationError {
  const names = knownNames(
    provider ?? ref,
    providers.map((p) => p.name),
  );
  const hint =
    "Write provider:model, for instance openai:gpt-4o-mini; a provider is added by its plugin.";
  if (provider === undefined)
    return new ValidationError(`Model ${preview(ref)} names no provider and model. ${names}`, {
      hint,
    });
  return new ValidationError(
    `Unknown model provider '${provider}' in model ${preview(ref)}. ${names}`,
    { hint },
  );
}

/** @throws what the provider throws, where that is one of our errors; PluginError for everything else, and for what is no model. */
function createModel(provider: ChatModelProvider, modelId: string): ChatModel {
  let model: unknown;
  try {
    model = provider.create(modelId);
  } catch (error) {
    if (AgentEnsembleError.isInstance(error)) throw error;
    throw new PluginError(
      `Provider '${provider.name}' can't make model '${modelId}': ${messageOf(error)}`,
      { plugin: provider.name, hook: "create" },
      { cause: error },
    );
  }
  if (typeof (model as ChatModel | undefined)?.chat === "function") return model as ChatModel; // checked as far as the contract demands it
  throw new PluginError(
    `Provider '${provider.name}' must make a ChatModel of '${modelId}', got: ${preview(model)}`,
    { plugin: provider.name, hook: "create" },
  );
}
