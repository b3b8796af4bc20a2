import type { ChatModelProvider } from "../../../contracts/chat-model.js";
import { httpProvider } from "../shared/http-provider.js";
import { resolveAnthropicOptions, type AnthropicOptions } from "./anthropic-options.js";
import { ANTHROPIC } from "./anthropic-vendor.js";
import { messagesApi, takesSchemas } from "./messages-api.js";

/** Creates the models of one set of options, which share one client. */
export function createAnthropicProvider(given: AnthropicOptions): ChatModelProvider {
  const options = resolveAnthropicOptions(given);
  return httpProvider({
    vendor: ANTHROPIC,
    options,
    protocol: messagesApi(options),
    structuredOutput: (modelId) => takesSchemas(modelId, options),
  });
}
