import type { ChatModel } from "../../../contracts/chat-model.js";
import { definePlugin, type Plugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { createAnthropicProvider } from "./anthropic-provider.js";
import type { AnthropicOptions } from "./anthropic-options.js";

export type { AnthropicOptions } from "./anthropic-options.js";
export type { ProviderOptions } from "../shared/provider-options.js";

/**
 * A chat model of Anthropic, or of any server that speaks its Messages API. Nothing is loaded, read from the environment or connected before the first call.
 *
 * System messages become the system prompt, wherever they stand. Schemas of tools and answers are sent for strict mode where it can say the same.
 * Of a model that thinks aloud (`providerOptions: { thinking }`) the thinking is kept as `reasoning` of the response and not sent back, so thinking does not go together with tools.
 *
 * @example anthropic("claude-sonnet-4-5")
 * @throws ValidationError for a blank model name and for options that cannot work.
 */
export function anthropic(modelId: string, options: AnthropicOptions = {}): ChatModel {
  return createAnthropicProvider(options).create(modelId);
}

/**
 * Makes models nameable as `anthropic:{model}`, for instance `"anthropic:claude-sonnet-4-5"`, all with these options.
 * @throws ValidationError for options that cannot work.
 */
export function anthropicProvider(options: AnthropicOptions = {}): Plugin {
  const provider = createAnthropicProvider(options);
  return definePlugin({
    name: "provider-anthropic",
    bind: (bind) => void bind.many(Tokens.ChatModelProvider).toConstantValue(provider),
  });
}
