import type { ChatModel, ChatModelProvider, ModelRef } from "../../../contracts/chat-model.js";
import { createToken } from "../../../contracts/token.js";
import { modelNamed } from "./model-named.js";

/** Models to turn to, one after the other. Names become models when the kernel starts. */
export class FallbackChain {
  #models: readonly ChatModel[] = [];

  constructor(readonly refs: readonly ModelRef[]) {}

  /** @throws ValidationError naming the providers there are. */
  resolve(providers: readonly ChatModelProvider[]): void {
    // Two names may give the same model; a repeated one would send a call in circles.
    this.#models = [
      ...new Set(this.refs.map((ref) => modelNamed("fallback model", ref, providers))),
    ];
  }

  get models(): readonly ChatModel[] {
    return this.#models;
  }

  has(model: ChatModel): boolean {
    return this.#models.includes(model.wraps ?? model);
  }

  /** The one after `model`; the first, where `model` is none of them. */
  after(model: ChatModel): ChatModel | undefined {
    return this.#models[this.#models.indexOf(model) + 1];
  }
}

/** How the fallback plugin reaches the retry policy; private to this group. */
export const FallbackChains = createToken<FallbackChain>("resilience/FallbackChains", "many");
