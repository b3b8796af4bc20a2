import { checkOptions, requireBoolean, requireInteger } from "../../../contracts/validation.js";
import {
  CHAT_PROVIDER_OPTIONS,
  resolveChatProviderOptions,
  type ChatProviderOptions,
  type ResolvedChatProviderOptions,
} from "../shared/chat-provider-options.js";

/** Options for Anthropic, or for another server that supports the Messages API. */
export interface AnthropicOptions extends ChatProviderOptions {
  /**
   * Maximum number of output tokens for requests without a limit. The API requires one. Default
   * 8192.
   */
  readonly maxOutputTokens?: number | undefined;
  /**
   * Whether the vendor may cache the system prompt and the tools at a lower price. Requests have
   * these parts in common. Default true.
   */
  readonly promptCaching?: boolean | undefined;
  /**
   * Whether the model enforces JSON schemas. By default the name of the model determines it: true
   * for Claude Opus 4.1 and for Claude 4.5 and later.
   */
  readonly structuredOutput?: boolean | undefined;
}

/** Validated `AnthropicOptions` with defaults. */
export interface ResolvedAnthropicOptions extends ResolvedChatProviderOptions {
  readonly maxOutputTokens: number;
  readonly promptCaching: boolean;
  readonly structuredOutput: boolean | undefined;
}

const DEFAULT_MAX_OUTPUT_TOKENS = 8192;

/** @throws ValidationError for an unknown or invalid option. */
export function resolveAnthropicOptions(options: AnthropicOptions): ResolvedAnthropicOptions {
  checkOptions("anthropic()", options, [
    ...CHAT_PROVIDER_OPTIONS,
    "maxOutputTokens",
    "promptCaching",
    "structuredOutput",
  ]);
  const { maxOutputTokens, promptCaching, structuredOutput } = options;
  requireInteger("anthropic() maxOutputTokens", maxOutputTokens, 1);
  requireBoolean("anthropic() promptCaching", promptCaching);
  requireBoolean("anthropic() structuredOutput", structuredOutput);
  return Object.freeze({
    ...resolveChatProviderOptions("anthropic()", options),
    maxOutputTokens: maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
    promptCaching: promptCaching ?? true,
    structuredOutput,
  });
}
