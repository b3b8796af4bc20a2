import type { ChatModel, ChatModelProvider } from "../../../contracts/chat-model.js";
import { requireText } from "../../../contracts/validation.js";
import type { ChatProtocol } from "./chat-protocol.js";
import type { Vendor } from "./endpoint.js";
import { createLine } from "./http-call.js";
import { HttpChatModel } from "./http-chat-model.js";
import { VENDOR_IMAGES } from "./image-source.js";
import type { ResolvedProviderOptions } from "./provider-options.js";

/** The common parts of a vendor's models. */
export interface ProviderParts {
  readonly vendor: Vendor;
  readonly options: ResolvedProviderOptions;
  readonly protocol: ChatProtocol;
  /** Whether a model enforces JSON schemas. */
  structuredOutput(modelId: string): boolean;
}

/** Creates the models of one set of options, which share one client. */
export function httpProvider(parts: ProviderParts): ChatModelProvider {
  const { vendor, options, protocol } = parts;
  const line = createLine(vendor, options);
  return Object.freeze({
    name: vendor.name,
    create(modelId: string): ChatModel {
      requireText(modelId, `${vendor.name}() modelId must not be blank`);
      const capabilities = {
        structuredOutput: parts.structuredOutput(modelId),
        retry: Object.freeze({ maxAttempts: 3 }),
        attachments: VENDOR_IMAGES,
      };
      return new HttpChatModel(modelId, { line, protocol, capabilities });
    },
  });
}
