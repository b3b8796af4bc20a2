import type { Plugin } from "../../../contracts/plugin.js";
import type { CacheOptions } from "./cache-options.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { resolveCacheOptions } from "./cache-options.js";
import { ResponseCache } from "./response-cache.js";

export type { CacheOptions } from "./cache-options.js";
export type { CachedResponse, ResponseStore } from "./response-store.js";

/**
 * Answers a model call with the answer to an equal one that was made before: the same request to the same model, whoever made it. It costs nothing and
 * counts as `answered`. Policies have judged the call before, and those behind it judge the answer, as for any other.
 * A store that fails is a `run_warning`; the model is called then.
 * @throws ValidationError for an unknown option or a value that does not fit.
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
