import type { ChatModel } from "../../../contracts/chat-model.js";
import { AiSdkChatModel } from "./ai-sdk-chat-model.js";
import type { AiSdkLanguageModel } from "./ai-sdk-model.js";
import { resolveAiSdkOptions, type AiSdkOptions } from "./ai-sdk-options.js";

export type { AiSdkLanguageModel } from "./ai-sdk-model.js";
export type { AiSdkOptions } from "./ai-sdk-options.js";

/**
 * Converts a language model of the Vercel AI SDK into a model for agents and tasks. Its
 * specification must be v2, v3 or v4 (AI SDK 5 and later). `providerOptions` of a request have the
 * form of the AI SDK, by provider. The model's own limits also apply. The size of its responses is
 * not limited. Its provider controls redirects.
 *
 * @example aiSdk(createMistral({ apiKey })("mistral-small-latest"))
 * @throws ValidationError for an invalid model or invalid options.
 */
export function aiSdk(model: AiSdkLanguageModel, options: AiSdkOptions = {}): ChatModel {
  return new AiSdkChatModel(model, resolveAiSdkOptions(model, options));
}
