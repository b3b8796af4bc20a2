import type { ModelRef } from "../../../contracts/chat-model.js";
import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { requireUsable } from "../../../contracts/model-check.js";
import { Tokens } from "../../../contracts/tokens.js";
import { FallbackChain, FallbackChains } from "../shared/fallback-chain.js";
import { checkFallbackModels, requireAttemptPolicy } from "./checks.js";
import { fittingRequest } from "./fitting-request.js";

/**
 * Uses other models after a permanent failure of a model. A failure is permanent in these cases:
 * - The attempts of the model or its quota are exhausted.
 * - Its key is rejected, or it does not exist.
 * - The conversation is too long for it.
 *
 * The models are tried in the given order without a delay, each with its own attempts. If a call's
 * own model is in the list, the call continues with the next one. A bad request is not sent to
 * another model, unless it has images or files. Works with and without `retry`. Names are resolved
 * when the kernel starts. The start rejects with ValidationError for an unknown provider. It also
 * rejects with a custom retry policy, which would have to implement the fallback itself.
 * @throws ValidationError for an empty list, a value that is not a model, or a model listed twice.
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
