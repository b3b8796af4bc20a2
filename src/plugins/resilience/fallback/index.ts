import type { ModelRef } from "../../../contracts/chat-model.js";
import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { requireUsable } from "../../../contracts/model-check.js";
import { Tokens } from "../../../contracts/tokens.js";
import { FallbackChain, FallbackChains } from "../shared/fallback-chain.js";
import { checkFallbackModels, requireAttemptPolicy } from "./checks.js";
import { fittingRequest } from "./fitting-request.js";

/**
 * Turns to other models when one fails for good: its attempts are used up, its key is refused, its quota is gone, it does not exist, or the conversation
 * is too long for it. The models are tried in this order, at once, each with its own attempts; a call of one of them goes on from there. A bad request
 * is not sent to another model. Works together with `retry` and without it; names are resolved when the kernel starts.
 * @throws ValidationError for an empty list, something that is no model, or a model listed twice; when the kernel starts, for an unknown provider or a
 * retry policy of your own, which would have to do this itself.
 */
export function fallback(models: readonly ModelRef[]): Plugin {
  const chain = new FallbackChain(checkFallbackModels(models));
  return definePlugin({
    name: "resilience-fallback",
    dependsOn: ["resilience-retry"],
    bind(bind) {
      bind.many(FallbackChains).toConstantValue(chain);
    },
    apply({ hooks }) {
      hooks.beforeRun.tap({ name: "models" }, ({ run }) => {
        const check = run.find(Tokens.ModelCheck);
        for (const model of chain.models) requireUsable("fallback()", model, check);
      });
      hooks.beforeLlmCall.tap(
        { name: "response-format", lane: "transform", order: "post" },
        (call) => fittingRequest(call, chain),
      );
    },
    start(ctx) {
      requireAttemptPolicy(ctx.get(Tokens.RetryPolicy));
      chain.resolve(ctx.all(Tokens.ChatModelProvider));
    },
  });
}
