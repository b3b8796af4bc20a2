import type { Plugin } from "../../../contracts/plugin.js";
import type { CacheOptions } from "./cache-options.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { resolveCacheOptions } from "./cache-options.js";
import { ResponseCache } from "./response-cache.js";

export type { CacheOptions } from "./cache-options.js";
export type { CachedResponse, ResponseStore } from "./response-store.js";

/**
 * Answers a model call with the stored response to an equal call of any earlier run. Calls are
 * equal if they send the same request to the same model. The answer costs nothing and has the
 * outcome `answered`. Policies before and after the call apply as usual. If the store fails, a
 * `run_warning` is emitted and the model is called.
 *
 * @throws ValidationError for an unknown option or a value out of range.
 */
export function cache(options: CacheOptions = {}): Plugin {
  const settings = resolveCacheOptions(options);
  const responses = new ResponseCache(settings);
  const { timeoutMs } = settings;
  return definePlugin({
    name: "resilience-cache",
    apply({ hooks }) {
      hooks.beforeLlmCall.tap(
        { name: "cache", lane: "answer", onError: "skip", timeoutMs },
        (call) => responses.lookUp(call),
      );
      hooks.afterLlmCall.tap(
        { name: "cache", lane: "commit", onError: "skip", timeoutMs },
        (call) => responses.keep(call),
      );
    },
  });
}
