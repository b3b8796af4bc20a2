import type { ChatModel } from "../../../contracts/chat-model.js";
import { definePlugin, type Plugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { createOpenAIProvider } from "./openai-provider.js";
import type { OpenAIOptions } from "./openai-options.js";

export { openaiEmbeddings } from "./openai-embeddings.js";
export { openaiModeration } from "./openai-moderation.js";
export type { OpenAIModerationOptions } from "./openai-moderation.js";
export type { OpenAIEmbeddingsOptions, OpenAIOptions } from "./openai-options.js";
export type { ProviderOptions } from "../shared/provider-options.js";

/**
 * Creates a chat model of OpenAI, or of any server that supports Chat Completions. Nothing is
 * loaded, read from the environment or connected before the first call.
 *
 * Schemas are sent in strict mode if it can express them. Optional properties are then sent as
 * "this, or null", and the nulls are removed from the response. The text of such a response arrives
 * in one chunk even if it is streamed.
 *
 * @example openai("gpt-5-mini")
 * @example openai("gpt-5", { api: "responses" })
 * @example openai("llama3.2", { baseURL: "http://localhost:11434/v1" })
 * @throws ValidationError for a blank model name or invalid options
 */
export function openai(modelId: string, options: OpenAIOptions = {}): ChatModel {
  return createOpenAIProvider(options).create(modelId);
}

/**
 * Registers models under the names `openai:{model}`, for instance `"openai:gpt-5-mini"`, with these
 * options.
 *
 * @throws ValidationError for invalid options.
 */
export function openaiProvider(options: OpenAIOptions = {}): Plugin {
  const provider = createOpenAIProvider(options);
  return definePlugin({
    name: "provider-openai",
    bind: (bind) => void bind.many(Tokens.ChatModelProvider).toConstantValue(provider),
  });
}
