import type {
  CacheOption,
  ContentPart,
  PartSupport,
  ReasoningOptions,
  ReasoningPart,
} from "./content.js";
import type { RateLimit } from "./rate-limit.js";
import type { JsonSchema } from "./types.js";

/**
 * A model's message. `reasoning` contains the blocks of reasoning for the agent that received the
 * message.
 */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: string;
  readonly toolCalls?: readonly ToolCall[] | undefined;
  readonly reasoning?: readonly ReasoningPart[] | undefined;
}

/** The result of a tool call, for the model. It answers the call with the same id. */
export interface ToolAnswer {
  readonly role: "tool";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: string;
  /** Images and files of the result, in addition to its text. */
  readonly parts?: readonly ContentPart[] | undefined;
  readonly isError?: boolean | undefined;
}

/** A message of a conversation. */
export type ChatMessage =
  | {
      readonly role: "system";
      readonly content: string;
      readonly cache?: CacheOption | undefined;
    }
  | { readonly role: "user"; readonly content: string | readonly ContentPart[] }
  | AssistantMessage
  | ToolAnswer;

/**
 * A model's request to call a tool. `arguments` is the text that the model wrote. The text may be
 * invalid JSON.
 */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The description of a tool for a model. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** Settings of a model call, chosen by an agent or a task. Default: the vendor's defaults. */
export interface ModelOptions {
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  /** How much the model reasons before it answers. Default: the vendor's default. */
  readonly reasoning?: ReasoningOptions | undefined;
  /**
   * How the vendor's prompt cache is used. `off` sets no marks. `auto` and `{ ttl }` mark the ends
   * of the system prompt, the tools and the last message. Vendors without marks ignore the option.
   * Default: the provider's default.
   */
  readonly cache?: CacheOption | undefined;
  /** Copied unchanged into the vendor's request body. */
  readonly providerOptions?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * One request to a chat model.
 *
 * `messages` is the current conversation: later messages are added to the same list. A copy in
 * every turn would have quadratic cost in long tool loops. To keep a request after the call, copy
 * the list (`[...messages]`).
 */
export interface ChatRequest extends ModelOptions {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolSpec[] | undefined;
  /**
   * `"none"` withholds the tools for this call. `"required"` requires a call of any tool. `{ name
   * }` requires a call of that tool. Default: the model decides.
   */
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string } | undefined;
  /**
   * Requests JSON that matches this schema. Set only for models whose
   * `capabilities.structuredOutput` is true.
   */
  readonly responseFormat?: { readonly name: string; readonly schema: JsonSchema } | undefined;
}

/**
 * Tokens of one call, as reported by the vendor. Unreported fields are absent. `inputTokens`
 * includes cached tokens.
 */
export interface Usage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  /** Input tokens written to the vendor's cache, a part of `inputTokens`. */
  readonly cacheWriteInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
}

/** The reason why a model stopped. `length`: the output limit ended the response. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "other";

/** A complete response. */
export interface ChatResponse {
  readonly message: AssistantMessage;
  readonly finishReason: FinishReason;
  readonly usage?: Usage | undefined;
  readonly responseId?: string | undefined;
  /**
   * The model's reasoning before its answer, or a summary of the reasoning, if the vendor returns
   * one. This text is not part of the answer and is never sent back. The blocks in
   * `message.reasoning` are sent back instead.
   */
  readonly reasoning?: string | undefined;
  /** The exact name of the model that answered, if the vendor returns one. */
  readonly modelId?: string | undefined;
}

/**
 * A piece of a model's reasoning. `index` counts the blocks of reasoning of one response, from 0.
 */
export interface ReasoningChunk {
  readonly type: "reasoning";
  readonly index: number;
  readonly text: string;
}

/**
 * A chunk of a streamed response. The last chunk is `finish` and contains the whole response. The
 * `reasoning` chunks with the same index, joined, are the text of that block in the response.
 */
export type ChatChunk =
  | { readonly type: "text"; readonly text: string }
  | ReasoningChunk
  | {
      readonly type: "tool_call";
      readonly index: number;
      readonly id?: string;
      readonly name?: string;
      readonly argumentsDelta?: string;
    }
  | { readonly type: "finish"; readonly response: ChatResponse };

/**
 * Capabilities that a model declares. An absent field means that the model lacks the capability,
 * unless the field states otherwise.
 */
export interface ModelCapabilities {
  /** Accepts `responseFormat` and follows the schema. */
  readonly structuredOutput?: boolean | undefined;
  /** The supported settings of `ReasoningOptions`, besides `summary`. Absent: unknown. */
  readonly reasoning?: readonly ("effort" | "budgetTokens")[] | undefined;
  /**
   * Limit of attempts for retryable failures, unless a retry policy is configured. Default: one
   * attempt.
   */
  readonly retry?: { readonly maxAttempts: number } | undefined;
  /** The images and files that the model accepts. Absent: unknown. All parts are then sent. */
  readonly parts?: PartSupport | undefined;
  /**
   * Whether the model calls no service (a replay, a stub). No rate limit then applies to its calls.
   * Default false.
   */
  readonly exemptFromRateLimits?: boolean | undefined;
  /**
   * Whether responses come from the recording of an earlier run. Such calls then count as
   * `answered`, and their cost is counted in `recordedCost`. Default false.
   */
  readonly recorded?: boolean | undefined;
  /**
   * Whether the responses cause no further cost. Budgets then reserve nothing for the calls.
   * Default false.
   */
  readonly exemptFromBudgets?: boolean | undefined;
}

/** Options of one call. An abort of the signal ends the call in any state. */
export interface ChatCallOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * A chat model: the only interface that a provider must implement. Bind a model to
 * `Tokens.ChatModel`, or pass it as `model`.
 *
 * `chat` rejects with `ModelCallError`, or with the signal's reason after an abort. `stream` is
 * optional. Without `stream`, the text arrives as one token. Check an implementation with
 * `chatModelContract` from `agentensemble/testing`.
 */
export interface ChatModel {
  /** The name of the vendor, for instance `openai`. */
  readonly provider: string;
  readonly modelId: string;
  readonly capabilities?: ModelCapabilities | undefined;
  /** Applies to all calls of this model object, in all runs of a kernel. */
  readonly rateLimit?: RateLimit | undefined;
  /**
   * The model that this model wraps. Rate limits and fallbacks use the wrapped model as their key.
   */
  readonly wraps?: ChatModel | undefined;
  chat(request: ChatRequest, options?: ChatCallOptions): Promise<ChatResponse>;
  stream?(request: ChatRequest, options?: ChatCallOptions): AsyncIterable<ChatChunk>;
  /**
   * Throws if the model's configuration prevents calls, for instance if the key is missing. Opens
   * no connection and returns immediately. A wrapper calls `check` of its model. Called once for
   * each model of a plan at the start of a run, before any spending. Default: the model counts as
   * usable.
   */
  check?(): void;
  /**
   * Returns an opaque text that identifies the address and the account of the calls. The text is a
   * salted hash of address, organisation and key. Caches separate the responses of models with
   * different identities. Default: provider and model id identify the model.
   */
  identity?(): string;
  /**
   * Removes the model's secrets (its key, secret headers) from a text before traces and recordings
   * leave the process. Must be fast. A wrapper calls `redact` of its model.
   */
  redact?(text: string): string;
}

/** A model, or its name as `provider:model`. `ChatModelProvider` contributions resolve names. */
export type ModelRef = ChatModel | string;

/**
 * Creates the models of one vendor from their names. Contributed to `Tokens.ChatModelProvider`.
 * `create` must not open a connection.
 */
export interface ChatModelProvider {
  readonly name: string;
  /** The parts that the vendor's models accept, for hints in errors. */
  readonly parts?: PartSupport | undefined;
  create(modelId: string): ChatModel;
}

/** The purpose of a model call. Every call has a purpose: each cost has a cause. */
export type Purpose =
  | "task"
  | "correction"
  | "manager"
  | "worker"
  | "synthesis"
  | "reflection"
  | "review"
  | "map"
  | "reduce"
  | "remote"
  | "summary"
  | "judge";
