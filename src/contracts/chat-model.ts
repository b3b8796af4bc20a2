import type { RateLimit } from "./rate-limit.js";
import type { JsonSchema } from "./types.js";

/**
 * A piece of a user message. `data` of an image is base64 text or a URL (`data:` URLs included).
 * `mediaType` may be absent where the first bytes of the data show it, or for an address.
 */
export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image";
      readonly data: string | URL;
      readonly mediaType?: string | undefined;
    };

/** A message of a conversation. A tool message answers the tool call of the same id. */
export type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly ContentPart[] }
  | {
      readonly role: "assistant";
      readonly content: string;
      readonly toolCalls?: readonly ToolCall[] | undefined;
    }
  | {
      readonly role: "tool";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly content: string;
      readonly isError?: boolean | undefined;
    };

/** A model's wish to call a tool. `arguments` is the JSON text as the model wrote it; it may be broken. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A tool as a model sees it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** Settings of a model call that an agent or a task may choose; those not set are the vendor's defaults. */
export interface ModelOptions {
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  /** Passed into the vendor's request body as it is. */
  readonly providerOptions?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * One request to a chat model.
 *
 * `messages` is the conversation itself and grows after the call returns (copying it in every turn would make long tool loops quadratic):
 * whoever keeps a request beyond the call takes `[...messages]`.
 */
export interface ChatRequest extends ModelOptions {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolSpec[] | undefined;
  /** `"none"` withholds the tools for this call; `{ name }` demands that one. Default: the model decides. */
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string } | undefined;
  /** Asks for JSON of this schema; set only for models whose `capabilities.structuredOutput` is true. */
  readonly responseFormat?: { readonly name: string; readonly schema: JsonSchema } | undefined;
}

/** Tokens of one call, as the vendor reported them; a field that was not reported is absent. `inputTokens` includes cached ones. */
export interface Usage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cachedInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
}

/** Why a model stopped. `length`: cut by the output limit. */
export type FinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "other";

/** A finished answer. */
export interface ChatResponse {
  readonly message: {
    readonly role: "assistant";
    readonly content: string;
    readonly toolCalls?: readonly ToolCall[] | undefined;
  };
  readonly finishReason: FinishReason;
  readonly usage?: Usage | undefined;
  readonly responseId?: string | undefined;
  /** What the model thought before it answered, or a summary of it, where the vendor gives it. No part of the answer, and never sent back. */
  readonly reasoning?: string | undefined;
  /** The model that answered, where the vendor names a more exact one. */
  readonly modelId?: string | undefined;
}

/** A piece of a streamed answer. The last one is `finish` and carries the whole response. */
export type ChatChunk =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "tool_call";
      readonly index: number;
      readonly id?: string;
      readonly name?: string;
      readonly argumentsDelta?: string;
    }
  | { readonly type: "finish"; readonly response: ChatResponse };

/** What a model declares about itself; all absent means the plain minimum. */
export interface ModelCapabilities {
  /** Takes `responseFormat` and keeps to the schema. */
  readonly structuredOutput?: boolean | undefined;
  /** How often a call that failed in a retryable way is tried in all, where no retry policy was configured. Absent: once. */
  readonly retry?: { readonly maxAttempts: number } | undefined;
  /** Media types of the parts it takes beside text, for instance `image/png` or `image/*`; empty: none. Absent: unknown, all are passed on. */
  readonly attachments?: readonly string[] | undefined;
  /** It asks nobody (a replay, a stub), so no rate limit holds for its calls, whoever bears it. */
  readonly exemptFromRateLimits?: boolean | undefined;
  /** Its answers come from the recording of an earlier run: calls count as `answered`, and their cost is apart (`recordedCost`). Default false. */
  readonly recorded?: boolean | undefined;
  /** Its answers were paid for before, so budgets reserve nothing for its calls. Default false. */
  readonly exemptFromBudgets?: boolean | undefined;
}

/** Per-call options: the signal ends the call, whatever state it is in. */
export interface ChatCallOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * A chat model: the only thing a provider has to implement. Bind one to `Tokens.ChatModel`, or pass it as `model`.
 *
 * `chat` rejects with `ModelCallError`, or with the signal's reason when aborted. `stream` is optional; without it tokens arrive as one piece.
 * Check an implementation with `chatModelContract` from `agentensemble/testing`.
 */
export interface ChatModel {
  /** The vendor, for instance `openai`. */
  readonly provider: string;
  readonly modelId: string;
  readonly capabilities?: ModelCapabilities | undefined;
  /** Holds for all calls of this model object, in all runs of a kernel. */
  readonly rateLimit?: RateLimit | undefined;
  /** The model that this one wraps. Rate limits and fallbacks are kept under it. */
  readonly wraps?: ChatModel | undefined;
  chat(request: ChatRequest, options?: ChatCallOptions): Promise<ChatResponse>;
  stream?(request: ChatRequest, options?: ChatCallOptions): AsyncIterable<ChatChunk>;
  /**
   * Throws where the model can't be called as it is set up, for instance without its key. Connects to nothing and returns at once; a wrapper passes it on.
   * Called once for each model of a plan when its run starts, so that nothing is spent first. Default: every model is taken for usable.
   */
  check?(): void;
  /**
   * Where its calls go and for whose account, as a text that tells nothing: a salted hash of address, organisation and key. Caches keep the answers of
   * models with different identities apart. Absent: provider and model id say it all.
   */
  identity?(): string;
  /** Takes the model's own secrets (its key, secret headers) out of a text, before traces and recordings leave the process. Quick; a wrapper passes it on. */
  redact?(text: string): string;
}

/** A model, or its name as `provider:model`, resolved through the `ChatModelProvider` contributions. */
export type ModelRef = ChatModel | string;

/** Makes the models of one vendor from their names; contributed to `Tokens.ChatModelProvider`. `create` must not open a connection. */
export interface ChatModelProvider {
  readonly name: string;
  create(modelId: string): ChatModel;
}

/** What a model call is for. Every call bears one, so that no cost is anonymous. */
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
