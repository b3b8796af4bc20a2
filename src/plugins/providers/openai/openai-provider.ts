import type { ChatModelProvider } from "../../../contracts/chat-model.js";
import { requireText } from "../../../contracts/validation.js";
import { createConnector } from "./connection.js";
import { OpenAIChatModel } from "./openai-chat-model.js";
import { resolveOpenAIOptions, type OpenAIOptions } from "./options.js";

/** The models of one set of options; they share one client. */
export function createOpenAIProvider(options: OpenAIOptions): ChatModelProvider {
  const resolved = resolveOpenAIOptions(options);
  const connector = createConnector(resolved);
  return Object.freeze({
    name: "openai",
    create(modelId: string): OpenAIChatModel {
      requireText(modelId, "openai() modelId must not be blank");
      return new OpenAIChatModel(modelId, { connector, timeoutMs: resolved.timeoutMs });
    },
  });
}
