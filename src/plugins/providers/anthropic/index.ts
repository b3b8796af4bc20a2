import type { ChatModel } from "../../../contracts/chat-model.js";
import { definePlugin, type Plugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { createAnthropicProvider } from "./anthropic-provider.js";
import type { AnthropicOptions } from "./anthropic-options.js";

export type { AnthropicOptions } from "./anthropic-options.js";
export type { ProviderOptions } from "../shared/provider-options.js";

/**
 * Creates a chat model of Anthropic, or of any server that supports its Messages API. Nothing is
 * loaded, read from the environment or connected before the first call.
 *
 * System messages become the system prompt, at any position. Schemas of tools and answers are sent
 * in strict mode if it can express them. `modelOptions.reasoning` enables thinking. The thinking is
 * returned as `reasoning` of the response. The next call sends the thinking blocks back to the
 * vendor.
 *
 * @example anthropic("claude-sonnet-5")
 * @throws ValidationError for a blank model name or invalid options
 */
export function anthropic(modelId: string, options: AnthropicOptions = {}): ChatModel {
  return createAnthropicProvider(options).create(modelId);
}

/**
 * Registers models under the names `anthropic:{model}`, for instance `"anthropic:claude-sonnet-5"`,
 * with these options.
 *
 * @throws ValidationError for invalid options.
 */
export function anthropicProvider(options: AnthropicOptions = {}): Plugin {
  const provider = createAnthropicProvider(options);
  return definePlugin({
    name: "provider-anthropic",
    bind: (bind) => void bind.many(Tokens.ChatModelProvider).toConstantValue(provider),
  });
}
