import type { Plugin } from "../../../contracts/plugin.js";
import type { RetryOptions } from "./retry-options.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { AttemptPolicy } from "../shared/attempt-policy.js";
import { FallbackChains } from "../shared/fallback-chain.js";
import { resolveRetryOptions } from "./retry-options.js";

export type { RetryOptions } from "./retry-options.js";

/**
 * Retries failed calls of every model, with increasing delays or the delay that the vendor
 * requests. Retries only temporary failures: never an exhausted quota, a bad request or a rejected
 * key. Replaces the standard plugin of the same name, which retries only calls of models that
 * declare `capabilities.retry`. The task's signal ends a delay. Every retry emits a
 * `retry_scheduled` event.
 * @throws ValidationError for an unknown option or a value out of range.
 */
export function retry(options: RetryOptions = {}): Plugin {
  return retryPlugin(options, false);
}

/**
 * The standard plugin. Each model declares its number of attempts. Any other retry policy takes
 * precedence.
 */
export function standardRetry(): Plugin {
  return retryPlugin(undefined, true);
}

function retryPlugin(options: RetryOptions | undefined, givesWay: boolean): Plugin {
  const policy = new AttemptPolicy(resolveRetryOptions(options));
  return definePlugin({
    name: "resilience-retry",
    bind(bind) {
      bind.single(Tokens.RetryPolicy, { default: givesWay }).toConstantValue(policy);
    },
    start(ctx) {
      policy.follow(ctx.all(FallbackChains));
    },
  });
}
