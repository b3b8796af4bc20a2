import type { ChatModelProvider } from "../../../contracts/chat-model.js";
import { httpProvider } from "../shared/http-provider.js";
import { resolveAnthropicOptions, type AnthropicOptions } from "./anthropic-options.js";
import { ANTHROPIC } from "./anthropic-vendor.js";
import { messagesApi, takesSchemas } from "./messages-api.js";

/** The models of one set of options; they share one client. */
export function createAnthropicProvider(given: AnthropicOptions): ChatModelProvider {
  const options = resolveAnthropicOptions(given);
  return httpProvider({
    vendor: ANTHROPIC,
    options,
    protocol: messagesApi(options),
    structuredOutput: (modelId) => takesSchemas(modelId, options),
  });
}
