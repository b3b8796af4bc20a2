import type { ChatModelProvider } from "../../../contracts/chat-model.js";
import { httpProvider } from "../shared/http-provider.js";
import { chatCompletions } from "./chat/chat-completions.js";
import { resolveOpenAIOptions, type OpenAIOptions } from "./openai-options.js";
import { CHAT_PARTS, RESPONSES_PARTS } from "./openai-parts.js";
import { OPENAI } from "./openai-vendor.js";
import { responses } from "./responses/responses.js";

/** Creates the models of one set of options, which share one client. */
export function createOpenAIProvider(given: OpenAIOptions): ChatModelProvider {
  const options = resolveOpenAIOptions(given);
  return httpProvider({
    vendor: OPENAI,
    options,
    protocol: options.api === "chat" ? chatCompletions() : responses(),
    parts: options.api === "chat" ? CHAT_PARTS : RESPONSES_PARTS,
    reasoning: ["effort"],
    structuredOutput: () => true,
  });
}
