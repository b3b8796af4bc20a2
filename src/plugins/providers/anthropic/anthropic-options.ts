import { checkOptions, requireBoolean, requireInteger } from "../../../contracts/validation.js";
import {
  PROVIDER_OPTIONS,
  resolveProviderOptions,
  type ProviderOptions,
  type ResolvedProviderOptions,
} from "../shared/provider-options.js";

/** How to reach Anthropic, or another server that speaks its Messages API. */
export interface AnthropicOptions extends ProviderOptions {
  /** The output limit of requests that set none; the API demands one. Default 8192. */
  readonly maxOutputTokens?: number | undefined;
  /** Whether the vendor may keep what requests have in common, system prompt and tools, for cheaper reading. Default true. */
  readonly promptCaching?: boolean | undefined;
  /** Whether the model keeps to JSON schemas by itself. Default: by its name, since Claude 4.1 (Opus) and 4.5 do. */
  readonly structuredOutput?: boolean | undefined;
}

/** `AnthropicOptions` once checked, with defaults applied. */
export interface ResolvedAnthropicOptions extends ResolvedProviderOptions {
  readonly maxOutputTokens: number;
  readonly promptCaching: boolean;
  readonly structuredOutput: boolean | undefined;
}

const DEFAULT_MAX_OUTPUT_TOKENS = 8192;

/** @throws ValidationError for an unknown option and for those that cannot work. */
export function resolveAnthropicOptions(options: AnthropicOptions): ResolvedAnthropicOptions {
  checkOptions("anthropic()", options, [
    ...PROVIDER_OPTIONS,
    "maxOutputTokens",
    "promptCaching",
    "structuredOutput",
  ]);
  const { maxOutputTokens, promptCaching, structuredOutput } = options;
  requireInteger("anthropic() maxOutputTokens", maxOutputTokens, 1);
  requireBoolean("anthropic() promptCaching", promptCaching);
  requireBoolean("anthropic() structuredOutput", structuredOutput);
  return Object.freeze({
    ...resolveProviderOptions("anthropic()", options),
    maxOutputTokens: maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
    promptCaching: promptCaching ?? true,
    structuredOutput,
  });
}
