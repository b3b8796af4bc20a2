import type { ChatModel, ChatModelProvider } from "../../../contracts/chat-model.js";
import { requireText } from "../../../contracts/validation.js";
import { HttpChatModel } from "../shared/http-chat-model.js";
import { createLine } from "../shared/http-call.js";
import { chatCompletions } from "./chat/chat-completions.js";
import { OPENAI } from "./openai-vendor.js";
import { resolveOpenAIOptions, type OpenAIOptions } from "./options.js";
import { responses } from "./responses/responses.js";

/** The models of one set of options; they share one client. */
export function createOpenAIProvider(options: OpenAIOptions): ChatModelProvider {
  const resolved = resolveOpenAIOptions(options);
  const line = createLine(OPENAI, resolved);
  const protocol = resolved.api === "chat" ? chatCompletions() : responses();
  return Object.freeze({
    name: "openai",
    create(modelId: string): ChatModel {
      requireText(modelId, "openai() modelId must not be blank");
      return new HttpChatModel(modelId, {
        line,
        protocol,
        capabilities: { structuredOutput: true, retry: Object.freeze({ maxAttempts: 3 }) },
      });
    },
  });
}
