import type { ChatResponse } from "../../../contracts/chat-model.js";
import type { Awaitable } from "../../../contracts/types.js";

/** A response in its stored form, JSON data. */
export interface CachedResponse {
  /** Without `usage`, because a cached response uses no tokens. */
  readonly response: ChatResponse;
  /** Milliseconds since 1970. */
  readonly storedAt: number;
}

/**
 * The store of a `cache`: a database, a file or another process. Keys are SHA-256 digests in
 * hexadecimal digits and do not reveal the request. If a method throws or exceeds the cache's
 * `timeoutMs`, a `run_warning` is emitted and the model is called.
 */
export interface ResponseStore {
  /** Returns `undefined` if there is no response with this key. */
  get(key: string): Awaitable<CachedResponse | undefined>;
  set(key: string, entry: CachedResponse): Awaitable<void>;
}
