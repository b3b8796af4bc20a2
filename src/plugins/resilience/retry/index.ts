import type { Plugin } from "../../../contracts/plugin.js";
import type { RetryOptions } from "./retry-options.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { AttemptPolicy } from "../shared/attempt-policy.js";
import { FallbackChains } from "../shared/fallback-chain.js";
import { resolveRetryOptions } from "./retry-options.js";

export type { RetryOptions } from "./retry-options.js";

/**
 * Repeats failed model calls of every model, with growing waits, and as long as a vendor asks for. Only failures that may pass are repeated: never a used-up
 * quota, a bad request, a refused key. Takes the place of the standard plugin of the same name, which repeats only calls of models that declare
 * `capabilities.retry`. Waits end with the task's signal; every repetition is a `retry_scheduled` event.
 * @throws ValidationError for an unknown option or a value out of range.
 */
export function retry(options: RetryOptions = {}): Plugin {
  return retryPlugin(options, false);
}

/** The standard plugin: models decide themselves how often they are tried, and any other retry policy comes first. */
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
