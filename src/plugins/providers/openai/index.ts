import type { ChatModel } from "../../../contracts/chat-model.js";
import { definePlugin, type Plugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { createOpenAIProvider } from "./openai-provider.js";
import type { OpenAIOptions } from "./openai-options.js";

export { openaiEmbeddings } from "./openai-embeddings.js";
export type { OpenAIEmbeddingsOptions, OpenAIOptions } from "./openai-options.js";
export type { ProviderOptions } from "../shared/provider-options.js";

/**
 * A chat model of OpenAI, or of any server that speaks Chat Completions. Nothing is loaded, read from the environment or connected before the first call.
 *
 * Schemas are sent for strict mode where it can say the same: optional properties then travel as "this, or null", and the nulls are taken out of the answer.
 * The text of such an answer comes in one piece even when it is streamed.
 *
 * @example openai("gpt-4o-mini")
 * @example openai("gpt-5", { api: "responses" })
 * @example openai("llama3.2", { baseURL: "http://localhost:11434/v1" })
 * @throws ValidationError for a blank model name and for options that cannot work.
 */
export function openai(modelId: string, options: OpenAIOptions = {}): ChatModel {
  return createOpenAIProvider(options).create(modelId);
}

/**
 * Makes models nameable as `openai:{model}`, for instance `"openai:gpt-4o-mini"`, all with these options.
 * @throws ValidationError for options that cannot work.
 */
export function openaiProvider(options: OpenAIOptions = {}): Plugin {
  const provider = createOpenAIProvider(options);
  return definePlugin({
    name: "provider-openai",
    bind: (bind) => void bind.many(Tokens.ChatModelProvider).toConstantValue(provider),
  });
}
