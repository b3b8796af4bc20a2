import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { EstimatingTokenCounter } from "./estimating-token-counter.js";

/** Binds the default of `Tokens.TokenCounter`, a fast estimate that is independent of the model. */
export function tokenCounter(): Plugin {
  return definePlugin({
    name: "resilience-token-counter",
    bind(bind) {
      bind
        .single(Tokens.TokenCounter, { default: true })
        .toConstantValue(new EstimatingTokenCounter());
    },
  });
}
