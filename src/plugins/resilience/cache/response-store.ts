import type { ChatResponse } from "../../../contracts/chat-model.js";
import type { Awaitable } from "../../../contracts/types.js";

/** An answer as a store keeps it: plain JSON. */
export interface CachedResponse {
  /** Without `usage`: an answer out of a cache uses nothing. */
  readonly response: ChatResponse;
  /** Milliseconds since 1970. */
  readonly storedAt: number;
}

/**
 * Where `cache` keeps answers: a database, a file, another process. Keys are SHA-256 as hexadecimal digits and tell nothing of the request.
 * A method that throws or takes longer than the cache's `timeoutMs` is a `run_warning`, and the model is called.
 */
export interface ResponseStore {
  /** `undefined` where nothing is kept under this key. */
  get(key: string): Awaitable<CachedResponse | undefined>;
  set(key: string, entry: CachedResponse): Awaitable<void>;
}
