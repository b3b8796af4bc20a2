import { checkOptions, requireBoolean, requireInteger } from "../../../contracts/validation.js";
import {
  CHAT_PROVIDER_OPTIONS,
  resolveChatProviderOptions,
  type ChatProviderOptions,
  type ResolvedChatProviderOptions,
} from "../shared/chat-provider-options.js";

/** How to reach Anthropic, or another server that supports its Messages API. */
export interface AnthropicOptions extends ChatProviderOptions {
  /** Output limit of requests without one, since the API requires a limit. Default 8192. */
  readonly maxOutputTokens?: number | undefined;
  /**
   * Whether the vendor may cache the common prefix of requests, system prompt and tools, at a lower
   * price. Default true.
   */
  readonly promptCaching?: boolean | undefined;
  /**
   * Whether the model enforces JSON schemas. Default: by its name; Claude Opus 4.1 and all Claude
   * 4.5 models and later do.
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

/** @throws ValidationError for an unknown or invalid option */
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
