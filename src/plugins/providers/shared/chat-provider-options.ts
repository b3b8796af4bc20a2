import type { PartSupport } from "../../../contracts/content.js";
import { partSupport } from "../../../contracts/part-support.js";
import {
  PROVIDER_OPTIONS,
  resolveProviderOptions,
  type ProviderOptions,
  type ResolvedProviderOptions,
} from "./provider-options.js";

/** Options for a vendor's chat models, or for those of another server with a compatible API. */
export interface ChatProviderOptions extends ProviderOptions {
  /**
   * The images and files that the models accept. Default: those of the vendor's API. The default
   * for another server is images only.
   */
  readonly parts?: PartSupport | undefined;
}

/** Validated `ChatProviderOptions` with defaults. */
export interface ResolvedChatProviderOptions extends ResolvedProviderOptions {
  readonly parts: PartSupport | undefined;
}

/** The names of the options common to all vendors of chat models. */
export const CHAT_PROVIDER_OPTIONS = [...PROVIDER_OPTIONS, "parts"] as const;

/** Validates options like `resolveProviderOptions`. @throws ValidationError */
export function resolveChatProviderOptions(
  what: string,
  options: ChatProviderOptions,
): ResolvedChatProviderOptions {
  const parts = partSupport(`${what} parts`, options.parts);
  return Object.freeze({ ...resolveProviderOptions(what, options), parts });
}
