import type { ChatModel, ChatModelProvider, ModelRef } from "../../../contracts/chat-model.js";
import { createToken } from "../../../contracts/token.js";
import { modelNamed } from "./model-named.js";

/** Fallback models in their order. Names are resolved when the kernel starts. */
export class FallbackChain {
  #models: readonly ChatModel[] = [];

  constructor(readonly refs: readonly ModelRef[]) {}

  /** @throws ValidationError that names the available providers. */
  resolve(providers: readonly ChatModelProvider[]): void {
    // Two names may resolve to the same model. A repeated model would cause a cycle.
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

  /** Returns the models after `model`. Returns all of them if it is not in the chain. */
  allAfter(model: ChatModel): readonly ChatModel[] {
    return this.#models.slice(this.#models.indexOf(model) + 1);
  }
}

/** Connects the fallback plugin and the retry policy. Private to this group. */
export const FallbackChains = createToken<FallbackChain>("resilience/FallbackChains", "many");
