import type { ChatModel } from "../../../contracts/chat-model.js";
import { definePlugin, type Plugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { createOpenAIProvider } from "./openai-provider.js";
import type { OpenAIOptions } from "./options.js";

export type { OpenAIOptions } from "./options.js";

/**
 * A chat model of OpenAI, or of any server that speaks Chat Completions. Nothing is loaded, read from the environment or connected before the first call.
 *
 * @example openai("gpt-4o-mini")
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
