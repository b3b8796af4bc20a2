import type { ChatModel, ChatModelProvider, ModelRef } from "../../../contracts/chat-model.js";
import { ValidationError } from "../../../contracts/errors.js";
import { createToken } from "../../../contracts/tokens.js";
import { knownNames, preview } from "../../../contracts/validation.js";

/** Models to turn to, one after the other. Names become models when the kernel starts. */
export class FallbackChain {
  #models: readonly ChatModel[] = [];

  constructor(readonly refs: readonly ModelRef[]) {}

  /** @throws ValidationError naming the providers there are. */
  resolve(providers: readonly ChatModelProvider[]): void {
    // Two names may give the same model; a repeated one would send a call in circles.
    this.#models = [...new Set(this.refs.map((ref) => (typeof ref === "string" ? modelNamed(ref, providers) : ref)))];
  }

  has(model: ChatModel): boolean {
    return this.#models.includes(model);
  }

  /** The one after `model`; the first, where `model` is none of them. */
  after(model: ChatModel): ChatModel | undefined {
    return this.#models[this.#models.indexOf(model) + 1];
  }
}

function modelNamed(ref: string, providers: readonly ChatModelProvider[]): ChatModel {
  const colon = ref.indexOf(":");
  const name = ref.slice(0, colon);
  const provider = providers.findLast((p) => p.name === name);
  if (provider !== undefined) return provider.create(ref.slice(colon + 1));
  const names = providers.map((p) => p.name);
  throw new ValidationError(`Unknown model provider '${name}' in fallback model ${preview(ref)}. ${knownNames(name, names)}`);
}

/** How the fallback plugin reaches the retry policy; private to this group. */
export const FallbackChains = createToken<FallbackChain>("resilience/FallbackChains", "many");
