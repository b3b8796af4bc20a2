import type { ChatModelProvider } from "../../../contracts/chat-model.js";
import type { PartSupport } from "../../../contracts/content.js";
import { httpProvider } from "../shared/http-provider.js";
import { VENDOR_IMAGES } from "../shared/parts.js";
import { resolveAnthropicOptions, type AnthropicOptions } from "./anthropic-options.js";
import { ANTHROPIC } from "./anthropic-vendor.js";
import { messagesApi, takesSchemas } from "./messages-api.js";

const FILES: readonly string[] = Object.freeze([...VENDOR_IMAGES, "application/pdf", "text/*"]);
/** The parts that the Messages API accepts. It has no form for audio. */
const MESSAGES_PARTS: PartSupport = Object.freeze({
  user: FILES,
  tool: FILES,
  urls: Object.freeze(["image/*", "application/pdf"]),
});

/** Creates the models of one set of options, which share one client. */
export function createAnthropicProvider(given: AnthropicOptions): ChatModelProvider {
  const options = resolveAnthropicOptions(given);
  return httpProvider({
    vendor: ANTHROPIC,
    options,
    protocol: messagesApi(options),
    parts: MESSAGES_PARTS,
    reasoning: ["effort", "budgetTokens"],
    structuredOutput: (modelId) => takesSchemas(modelId, options),
  });
}
