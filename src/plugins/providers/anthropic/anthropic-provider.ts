import type { ChatModel, ChatModelProvider } from "../../../contracts/chat-model.js";
import { requireText } from "../../../contracts/validation.js";
import { HttpChatModel } from "../shared/http-chat-model.js";
import { createLine } from "../shared/http-call.js";
import { ANTHROPIC } from "./anthropic-vendor.js";
import { messagesApi, takesSchemas } from "./messages-api.js";
import { resolveAnthropicOptions, type AnthropicOptions } from "./options.js";

/** The models of one set of options; they share one client. */
export function createAnthropicProvider(options: AnthropicOptions): ChatModelProvider {
  const resolved = resolveAnthropicOptions(options);
  const line = createLine(ANTHROPIC, resolved);
  const protocol = messagesApi(resolved);
  return Object.freeze({
    name: "anthropic",
    create(modelId: string): ChatModel {
      requireText(modelId, "anthropic() modelId must not be blank");
      const capabilities = {
        structuredOutput: takesSchemas(modelId, resolved),
        retry: Object.freeze({ maxAttempts: 3 }),
      };
      return new HttpChatModel(modelId, { line, protocol, capabilities });
    },
  });
}
