import type { ChatRequest, ChatResponse } from "../../../contracts/chat-model.js";
import type { After, Answer, LlmCall } from "../../../contracts/hooks.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { CacheSettings } from "./cache-options.js";
import type { CachedResponse } from "./response-store.js";
import { answer } from "../../../contracts/hooks.js";
import { Tokens } from "../../../contracts/tokens.js";
import { PartDigests } from "../../shared/part-digests.js";
import { requestKey } from "../../shared/request-key.js";
import { checkedEntry, withFreshIds, withoutUsage } from "./cached-response.js";
import { isThenable } from "../../../util/objects.js";

/** Answers calls from stored responses. */
export class ResponseCache {
  /**
   * The keys of calls between their two hooks. A long conversation is therefore hashed only once.
   */
  readonly #keys = new WeakMap<ChatRequest, string>();
  readonly #digests = new PartDigests();

  constructor(readonly settings: CacheSettings) {}

  /**
   * @throws the errors of the store; ValidationError for an invalid entry. The kernel then warns
   * and calls the model.
   */
  lookUp(call: LlmCall): Awaitable<Answer<ChatResponse> | undefined> {
    if (this.settings.excludePurposes.has(call.purpose)) return undefined;
    // a replay must not read or change the store
    if (call.model.capabilities?.recorded === true) return undefined;
    const { model } = call;
    const key = requestKey(call.request, model, {
      identity: (model.wraps ?? model).identity?.(),
      digests: this.#digests,
    });
    this.#keys.set(call.request, key);
    const found: unknown = this.settings.store.get(key);
    return isThenable(found)
      ? Promise.resolve(found).then((entry) => this.#answer(call, entry))
      : this.#answer(call, found);
  }

  /** Stores complete responses of the model. */
  keep(call: After<LlmCall, "response", ChatResponse>): Awaitable<void> {
    const { request, response } = call;
    const key = this.#keys.get(request);
    this.#keys.delete(request);
    if (key === undefined || response === undefined) return undefined;
    if (response.finishReason !== "stop" && response.finishReason !== "tool_calls")
      return undefined;
    return this.settings.store.set(key, {
      response: withoutUsage(response),
      storedAt: nowOf(call),
    });
  }

  #answer(call: LlmCall, found: unknown): Answer<ChatResponse> | undefined {
    if (found === undefined || found === null) return undefined;
    const entry: CachedResponse = checkedEntry(found);
    if (nowOf(call) - entry.storedAt >= this.settings.ttlMs) return undefined;
    return answer(withFreshIds(withoutUsage(entry.response), call.request));
  }
}

function nowOf({ run }: LlmCall): number {
  return run.get(Tokens.Clock).now().getTime();
}
