import { createHash } from "node:crypto";
import type { WorkRequest, WorkResponse } from "../contracts/network.js";
import type { DeliveryParts } from "./delivery-parts.js";
import { asText } from "../util/objects.js";

/** The field of a stored response with the instant of its execution. */
const MADE_AT = "madeAt";

/** The results that requests with the same `cache.key`, task and version share. */
export class CachedResults {
  readonly #parts: DeliveryParts;
  readonly #request: WorkRequest;
  /** `undefined` for a request without a cache. */
  readonly #id: string | undefined;

  constructor(parts: DeliveryParts, request: WorkRequest, version = "") {
    const { cache, to, task } = request;
    this.#parts = parts;
    this.#request = request;
    this.#id = cache === undefined ? undefined : cacheId([to, task, version, cache.key]);
  }

  /** Returns the result of an earlier request, as the response to this request. */
  async find(): Promise<WorkResponse | undefined> {
    const { cache, requestId } = this.#request;
    if (this.#id === undefined || cache?.policy !== "USE_CACHED") return undefined;
    const kept = await this.#parts.backend.results.retrieve(this.#id);
    if (kept === undefined) return undefined;
    const ageMs = this.#parts.clock.now().getTime() - Date.parse(asText(kept[MADE_AT]));
    if (!(ageMs <= cache.maxAgeMs)) return undefined;
    const { [MADE_AT]: _, usage: __, ...response } = kept; // this request used nothing
    return { ...response, requestId, durationMs: 0 };
  }

  /** Stores a completed response. */
  async keep(response: WorkResponse): Promise<void> {
    const { results } = this.#parts.backend;
    const { cache } = this.#request;
    if (this.#id === undefined || cache === undefined || response.status !== "COMPLETED") return;
    const { maxAgeMs } = cache;
    const kept = { ...response, [MADE_AT]: this.#parts.clock.now().toISOString() };
    try {
      await results.forget(this.#id);
      await results.store(this.#id, kept, Math.max(1, maxAgeMs));
    } catch {
      // The next request executes the work again.
    }
  }
}

function cacheId(parts: readonly string[]): string {
  return `cache:${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}
