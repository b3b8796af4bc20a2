import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireInteger } from "../../../contracts/validation.js";
import {
  CHAT_PROVIDER_OPTIONS,
  resolveChatProviderOptions,
  type ChatProviderOptions,
  type ResolvedChatProviderOptions,
} from "../shared/chat-provider-options.js";
import {
  PROVIDER_OPTIONS,
  resolveProviderOptions,
  type ProviderOptions,
  type ResolvedProviderOptions,
} from "../shared/provider-options.js";

/**
 * Options for OpenAI, or for another server that supports Chat Completions (Ollama, vLLM, LM
 * Studio, ...).
 */
export interface OpenAIOptions extends ChatProviderOptions {
  /**
   * The API to use. `"chat"` is Chat Completions, which other servers also support. `"responses"`
   * is OpenAI's newer Responses API. Default `"chat"`.
   */
  readonly api?: "chat" | "responses" | undefined;
}

/** Options for OpenAI's embeddings, or for those of another server with a compatible API. */
export interface OpenAIEmbeddingsOptions extends ProviderOptions {
  /**
   * The length of the vectors, for models that offer several. Default: the default length of the
   * model.
   */
  readonly dimensions?: number | undefined;
  /**
   * Maximum number of texts per request, from 1 to 2048. Default 128. With more long vectors, the
   * response would exceed `maxResponseBytes`.
   */
  readonly batchSize?: number | undefined;
}

/** Validated `OpenAIOptions` with defaults. */
export interface ResolvedOpenAIOptions extends ResolvedChatProviderOptions {
  readonly api: "chat" | "responses";
}

/** Validated `OpenAIEmbeddingsOptions` with defaults. */
export interface ResolvedEmbeddingsOptions extends ResolvedProviderOptions {
  readonly dimensions: number | undefined;
  readonly batchSize: number;
}

const DEFAULT_BATCH_SIZE = 128;
const LARGEST_BATCH = 2048;

/** @throws ValidationError for an unknown or invalid option. */
export function resolveOpenAIOptions(options: OpenAIOptions): ResolvedOpenAIOptions {
  checkOptions("openai()", options, [...CHAT_PROVIDER_OPTIONS, "api"]);
  const { api = "chat" } = options;
  if (api !== "chat" && api !== "responses")
    throw new ValidationError(`openai() api must be 'chat' or 'responses', got: ${preview(api)}`);
  return Object.freeze({ ...resolveChatProviderOptions("openai()", options), api });
}

/** @throws ValidationError for an unknown or invalid option. */
export function resolveEmbeddingsOptions(
  options: OpenAIEmbeddingsOptions,
): ResolvedEmbeddingsOptions {
  checkOptions("openaiEmbeddings()", options, [...PROVIDER_OPTIONS, "dimensions", "batchSize"]);
  const { dimensions, batchSize = DEFAULT_BATCH_SIZE } = options;
  requireInteger("openaiEmbeddings() dimensions", dimensions, 1);
  requireInteger("openaiEmbeddings() batchSize", batchSize, 1);
  if (batchSize > LARGEST_BATCH)
    throw new ValidationError(
      `openaiEmbeddings() batchSize must be at most ${LARGEST_BATCH}, got: ${batchSize}`,
    );
  return Object.freeze({
    ...resolveProviderOptions("openaiEmbeddings()", options),
    dimensions,
    batchSize,
  });
}
