import { AGENT_SYNONYMS, MODEL_OPTION_SYNONYMS } from "./synonyms.js";
import type { ModelOptions, ModelRef } from "./chat-model.js";
import type { RateLimit } from "./rate-limit.js";
import type { ToolLike } from "./tool.js";
import { checkCache } from "./attachment.js";
import { ValidationError } from "./errors.js";
import { snapshotOfHandoffs } from "./handoff-list.js";
import { PromptText, requirePrompt, type Text } from "./prompt-text.js";
import { checkRateLimit } from "./rate-limit.js";
import { checkReasoning } from "./reasoning.js";
import { checkTools } from "./tool.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireBoolean,
  requireInteger,
  requireText,
} from "./validation.js";

/** Options of a handoff. */
export interface HandoffOptions {
  /** The name of the tool. Default: `transfer_to_` and the role. */
  readonly toolName?: string | undefined;
  /** For the model: when to transfer. Default: the role and the goal. */
  readonly description?: string | undefined;
  /**
   * The part of the conversation that the next agent receives. `all` (default): the whole
   * conversation. `text`: without tool calls and their results.
   */
  readonly history?: "all" | "text" | undefined;
}

/** An agent that may take over a task from another agent. Created by `handoff`. */
export interface Handoff extends HandoffOptions {
  readonly agent: Agent;
}

/** The agents that may take over. Pass a function if agents refer to each other. */
export type Handoffs = readonly (Agent | Handoff)[] | (() => readonly (Agent | Handoff)[]);

/** Options of an agent. */
export interface AgentOptions {
  /** Identifies the agent in its prompt, in events, and to other agents that delegate to it. */
  readonly role: string;
  /**
   * The agent's goal, part of its prompt. A string is used unchanged. The variables of a `prompt`
   * text are filled from the run's inputs.
   */
  readonly goal: Text;
  /**
   * Knowledge or working method of the agent, part of its prompt. Filled in the same way as `goal`.
   */
  readonly background?: Text | undefined;
  readonly tools?: readonly ToolLike[] | undefined;
  /**
   * Default: the model of the task, else the ensemble's model, else the model bound in the
   * container.
   */
  readonly model?: ModelRef | undefined;
  /** Limit of tool calls in one task. Default 25. */
  readonly maxIterations?: number | undefined;
  /** Limit of parallel tool calls in one turn. Further calls wait. Default 16. */
  readonly maxParallelToolCalls?: number | undefined;
  /** Output format instructions, added to the agent's prompt. Default: none. */
  readonly responseFormat?: string | undefined;
  readonly modelOptions?: ModelOptions | undefined;
  /** Applies to all model calls of this agent, in all runs of a kernel. */
  readonly rateLimit?: RateLimit | undefined;
  /** Logs the agent's prompts and responses at level info. Default false. */
  readonly verbose?: boolean | undefined;
  /**
   * Number of the run's last outputs in the prompts of its tasks, in addition to the outputs in
   * `context`. Needs `memory.shortTerm` of the ensemble. Default: the ensemble's window.
   */
  readonly shortTermWindow?: number | undefined;
  /**
   * Whether the agent may delegate subtasks to other agents of the run, with the tool `delegate`.
   * Default false.
   */
  readonly allowDelegation?: boolean | undefined;
  /**
   * The agents that may take over from this agent. For each of them, this agent has a tool
   * `transfer_to_<role>`. Pass a function if agents refer to each other. Default: none.
   */
  readonly handoffs?: Handoffs | undefined;
}

const AGENT_FIELDS = [
  "role",
  "goal",
  "background",
  "tools",
  "model",
  "maxIterations",
  "maxParallelToolCalls",
  "responseFormat",
  "modelOptions",
  "rateLimit",
  "verbose",
  "shortTermWindow",
  "allowDelegation",
  "handoffs",
] as const;
const MODEL_OPTION_FIELDS = [
  "temperature",
  "maxOutputTokens",
  "stopSequences",
  "reasoning",
  "cache",
  "providerOptions",
] as const;

/**
 * Checks an option that takes a model. `what` is the name of the option in the error. Does not
 * check whether a provider exists: see `HookRun.resolveModel`.
 * @throws ValidationError unless `model` is absent, a model, or a name with a provider before its
 * colon.
 */
export function checkModel(what: string, model: unknown): void {
  if (model === undefined) return;
  if (typeof model === "string" && /^[^:\s]+:\S/.test(model)) return;
  const { chat, doGenerate } = Object(model) as { chat?: unknown; doGenerate?: unknown };
  if (typeof model === "object" && typeof chat === "function") return;
  const hint =
    typeof model === "string"
      ? hintOfModelName(model)
      : typeof doGenerate === "function"
        ? "This is a model of the AI SDK: pass aiSdk(model), of agentensemble/providers/ai-sdk."
        : undefined;
  throw new ValidationError(
    `${what} must be a ChatModel or a name like "openai:gpt-5-mini", got: ${preview(model)}`,
    { hint },
  );
}

/**
 * Returns the correct name for a model name of another framework: with a slash, or without a
 * provider.
 */
function hintOfModelName(name: string): string | undefined {
  const [, provider, model] = /^([\w.-]+)\/(\S+)$/.exec(name) ?? [];
  if (provider !== undefined) return `Write "${provider}:${model}".`;
  const [, openai, anthropic] = /^(?:(gpt-|o\d)|(claude-))\S*$/.exec(name) ?? [];
  if (openai !== undefined) return `Write "openai:${name}".`;
  return anthropic === undefined ? undefined : `Write "anthropic:${name}".`;
}

/** @throws ValidationError for an unknown field or a value out of range. */
export function checkModelOptions(what: string, options: ModelOptions | undefined): void {
  if (options === undefined) return;
  checkOptions(what, options, MODEL_OPTION_FIELDS, MODEL_OPTION_SYNONYMS);
  requireInteger(`${what}.maxOutputTokens`, options.maxOutputTokens, 1, "> 0");
  requireArray(`${what}.stopSequences`, options.stopSequences);
  checkReasoning(`${what}.reasoning`, options.reasoning);
  checkCache(`${what}.cache`, options.cache);
  if (
    options.temperature !== undefined &&
    !(typeof options.temperature === "number" && options.temperature >= 0)
  ) {
    throw new ValidationError(
      `${what}.temperature must be a number >= 0, got: ${preview(options.temperature)}`,
    );
  }
}

/**
 * An agent: a role, a goal, tools and a model. Immutable. Tasks, ensembles and runs can share an
 * agent.
 * @throws ValidationError from the constructor for every mistake that can be detected without a
 * run.
 */
export class Agent implements AgentOptions {
  readonly role: string;
  readonly goal: string;
  readonly background: string | undefined;
  readonly tools: readonly ToolLike[];
  readonly model: ModelRef | undefined;
  readonly maxIterations: number;
  readonly maxParallelToolCalls: number;
  readonly responseFormat: string;
  readonly modelOptions: ModelOptions | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly verbose: boolean;
  readonly shortTermWindow: number | undefined;
  readonly allowDelegation: boolean;
  readonly handoffs: Handoffs | undefined;
  /** The texts passed as prompt texts. `goal` and `background` show them unfilled. */
  readonly #prompts: AgentPrompts | undefined;

  constructor(options: AgentOptions) {
    checkOptions("Agent", options, AGENT_FIELDS, AGENT_SYNONYMS);
    requireText(options.role, "Agent role must not be blank");
    requirePrompt(options.goal, "Agent goal must not be blank");
    checkModel("Agent model", options.model);
    requireInteger("Agent maxIterations", options.maxIterations, 1, "> 0");
    requireInteger("Agent maxParallelToolCalls", options.maxParallelToolCalls, 1, "> 0");
    requireArray("Agent tools", options.tools);
    checkTools("Tool", options.tools ?? []);
    checkModelOptions("Agent modelOptions", options.modelOptions);
    checkRateLimit("Agent rateLimit", options.rateLimit);
    requireBoolean("Agent verbose", options.verbose);
    requireInteger("Agent shortTermWindow", options.shortTermWindow, 0);
    requireBoolean("Agent allowDelegation", options.allowDelegation);
    this.role = options.role;
    this.goal = String(options.goal);
    this.background = options.background === undefined ? undefined : String(options.background);
    this.#prompts = promptsOf(options);
    this.tools = Object.freeze([...(options.tools ?? [])]);
    this.model = options.model;
    this.maxIterations = options.maxIterations ?? 25;
    this.maxParallelToolCalls = options.maxParallelToolCalls ?? 16;
    this.responseFormat = options.responseFormat ?? "";
    this.modelOptions = options.modelOptions;
    this.rateLimit = options.rateLimit;
    this.verbose = options.verbose ?? false;
    this.shortTermWindow = options.shortTermWindow;
    this.allowDelegation = options.allowDelegation ?? false;
    this.handoffs = snapshotOfHandoffs(this, options.handoffs);
    Object.freeze(this);
  }

  /** Returns a copy with changed options. `undefined` resets an option to its default. */
  with(changes: Partial<AgentOptions>): Agent {
    return new Agent({ ...this, ...this.#prompts, ...changes });
  }

  /** Returns the texts passed as prompt texts. Their variables are filled in each run. */
  static promptsOf(agent: Agent): AgentPrompts | undefined {
    return agent.#prompts;
  }
}

/** The texts of an agent that were passed as prompt texts. */
interface AgentPrompts {
  readonly goal?: PromptText;
  readonly background?: PromptText;
}

function promptsOf({ goal, background }: AgentOptions): AgentPrompts | undefined {
  const isPrompt = goal instanceof PromptText;
  if (!isPrompt && !(background instanceof PromptText)) return undefined;
  return { ...(isPrompt && { goal }), ...(background instanceof PromptText && { background }) };
}
