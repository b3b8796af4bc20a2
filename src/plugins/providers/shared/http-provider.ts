import type {
  ChatModel,
  ChatModelProvider,
  ModelCapabilities,
} from "../../../contracts/chat-model.js";
import type { PartSupport } from "../../../contracts/content.js";
import { requireText } from "../../../contracts/validation.js";
import type { ChatProtocol } from "./chat-protocol.js";
import type { Vendor } from "./endpoint.js";
import { createLine } from "./http-call.js";
import { HttpChatModel } from "./http-chat-model.js";
import { COMPATIBLE_PARTS } from "./parts.js";
import type { ResolvedChatProviderOptions } from "./chat-provider-options.js";

/** The common parts of a vendor's models. */
export interface ProviderParts {
  readonly vendor: Vendor;
  readonly options: ResolvedChatProviderOptions;
  readonly protocol: ChatProtocol;
  /** The images and files that the vendor's API accepts. */
  readonly parts: PartSupport;
  /** The reasoning settings that the vendor's API supports. */
  readonly reasoning: NonNullable<ModelCapabilities["reasoning"]>;
  /** Whether a model enforces JSON schemas. */
  structuredOutput(modelId: string): boolean;
}

/** The capabilities of a model of a vendor. */
class VendorCapabilities implements ModelCapabilities {
  readonly structuredOutput: boolean;
  readonly reasoning: ModelCapabilities["reasoning"];
  readonly retry = Object.freeze({ maxAttempts: 3 });
  readonly #parts: ProviderParts;
  readonly #isVendor: () => boolean;

  constructor(parts: ProviderParts, isVendor: () => boolean, modelId: string) {
    this.structuredOutput = parts.structuredOutput(modelId);
    this.reasoning = parts.reasoning;
    this.#parts = parts;
    this.#isVendor = isVendor;
  }

  /** Determined at each read, because the environment may select another server. */
  get parts(): PartSupport {
    const { options, parts } = this.#parts;
    return options.parts ?? (this.#isVendor() ? parts : COMPATIBLE_PARTS);
  }
}

/** Creates the models of one set of options, which share one client. */
export function httpProvider(parts: ProviderParts): ChatModelProvider {
  const { vendor, options, protocol } = parts;
  const line = createLine(vendor, options);
  return Object.freeze({
    name: vendor.name,
    parts: options.parts ?? parts.parts,
    create(modelId: string): ChatModel {
      requireText(modelId, `${vendor.name}() modelId must not be blank`);
      const capabilities = new VendorCapabilities(
        parts,
        () => line.connector.isVendor(modelId),
        modelId,
      );
      return new HttpChatModel(modelId, { line, protocol, capabilities });
    },
  });
}
