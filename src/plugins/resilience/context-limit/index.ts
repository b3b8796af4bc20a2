import type { Plugin } from "../../../contracts/plugin.js";
import type { ContextLimitOptions } from "./context-limit-options.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { ContextLimiter } from "./context-limiter.js";
import { resolveContextLimitOptions } from "./context-limit-options.js";
import { CONTEXT_LIMIT_TEMPLATES } from "./context-limit-prompts.js";

export type { CompactOptions, ContextLimitOptions } from "./context-limit-options.js";

/**
 * Limits requests to the context window of a model. A call with more input tokens fails with
 * `AE_MODEL_CONTEXT_LENGTH` before it is sent. With `compact`, old tool results are shortened
 * first. `Tokens.TokenCounter` counts the tokens. The default counter estimates.
 *
 * @throws ValidationError for an unknown option or a value out of range.
 */
export function contextLimit(options: ContextLimitOptions): Plugin {
  const limiter = new ContextLimiter(resolveContextLimitOptions(options));
  return definePlugin({
    name: "resilience-context-limit",
    bind(bind) {
      bind.many(Tokens.PromptTemplates).toConstantValue(CONTEXT_LIMIT_TEMPLATES);
    },
    apply({ hooks }) {
      hooks.beforeLlmCall.tap({ name: "context-limit", lane: "transform", order: "post" }, (call) =>
        limiter.compact(call),
      );
      hooks.beforeLlmCall.tap({ name: "context-limit", lane: "policy" }, (call) =>
        limiter.judge(call),
      );
    },
  });
}
