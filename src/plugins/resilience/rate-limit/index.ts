import type { Plugin } from "../../../contracts/plugin.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { LocalRateWindow } from "./local-rate-window.js";
import { RateLimiter } from "./rate-limiter.js";

export { rateLimited } from "../../shared/rate-limits/rate-limited.js";

/**
 * Enforces the rate limits of ensembles, agents, tasks and models. It is the last of all policies,
 * so a refused call never waits.
 */
export function rateLimits(): Plugin {
  const limiter = new RateLimiter();
  return definePlugin({
    name: "resilience-rate-limit",
    bind(bind) {
      bind.single(Tokens.RateWindow, { default: true }).toConstantValue(new LocalRateWindow());
    },
    apply({ hooks }) {
      hooks.beforeLlmCall.tap({ name: "rate-limit", lane: "policy", order: "post" }, (call) =>
        limiter.admit(call),
      );
      hooks.beforeLlmCall.tap({ name: "rate-limit-start", lane: "answer", order: "post" }, (call) =>
        limiter.begin(call),
      );
      // The first tap. A place is released even if a later tap fails.
      hooks.afterLlmCall.tap({ name: "rate-limit", lane: "transform", order: "pre" }, (call) =>
        limiter.settle(call),
      );
    },
  });
}
