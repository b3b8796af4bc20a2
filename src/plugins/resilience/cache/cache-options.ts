import type { Purpose } from "../../../contracts/chat-model.js";
import type { ResponseStore } from "./response-store.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireArray,
  requireDuration,
  requireInteger,
  requireOneOf,
} from "../../../contracts/validation.js";
import { MemoryResponseStore } from "./memory-response-store.js";

/** Options of `cache`. */
export interface CacheOptions {
  /** The store of responses. Default: in memory, as long as the plugin exists. */
  readonly store?: ResponseStore | undefined;
  /** Time in milliseconds for which a response is valid. Default: no limit. */
  readonly ttlMs?: number | undefined;
  /**
   * Maximum number of responses in memory. The least recently used response is removed first. It
   * can't be combined with `store`. Default 1,000.
   */
  readonly maxEntries?: number | undefined;
  /** Purposes of calls that bypass the cache, for instance `["correction"]`. Default: none. */
  readonly excludePurposes?: readonly Purpose[] | undefined;
  /** Time limit of a call of the store, in milliseconds. Default 2,000. */
  readonly timeoutMs?: number | undefined;
}

export interface CacheSettings {
  readonly store: ResponseStore;
  readonly ttlMs: number;
  readonly excludePurposes: ReadonlySet<Purpose>;
  readonly timeoutMs: number;
}

const OPTION_NAMES = ["store", "ttlMs", "maxEntries", "excludePurposes", "timeoutMs"];
const PURPOSES: readonly Purpose[] = [
  "task",
  "correction",
  "manager",
  "worker",
  "synthesis",
  "reflection",
  "review",
  "map",
  "reduce",
  "remote",
  "summary",
  "judge",
];
const DEFAULT_MAX_ENTRIES = 1_000;
const DEFAULT_TIMEOUT_MS = 2_000;

/** Applies the defaults. @throws ValidationError for an unknown option or a value out of range. */
export function resolveCacheOptions(options: CacheOptions): CacheSettings {
  checkOptions("cache", options, OPTION_NAMES);
  const { store, ttlMs, maxEntries, excludePurposes = [], timeoutMs } = options;
  checkCacheStore(store);
  if (ttlMs !== undefined && !(typeof ttlMs === "number" && ttlMs > 0))
    throw new ValidationError(
      `cache ttlMs must be a number of milliseconds > 0, got: ${preview(ttlMs)}`,
    );
  requireInteger("cache maxEntries", maxEntries, 1, "an integer > 0");
  if (store !== undefined && maxEntries !== undefined)
    throw new ValidationError("cache maxEntries has no effect on a custom store", {
      hint: "Limit the entries in the store, or omit maxEntries.",
    });
  requireArray("cache excludePurposes", excludePurposes);
  excludePurposes.forEach((purpose, index) => {
    if (purpose === undefined)
      throw new ValidationError(`cache excludePurposes[${index}] must not be undefined`);
    requireOneOf(`cache excludePurposes[${index}]`, purpose, PURPOSES);
  });
  requireDuration("cache timeoutMs", timeoutMs);
  return Object.freeze({
    store: store ?? new MemoryResponseStore(maxEntries ?? DEFAULT_MAX_ENTRIES),
    ttlMs: ttlMs ?? Number.POSITIVE_INFINITY,
    excludePurposes: new Set(excludePurposes),
    timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
  });
}

function checkCacheStore(store: unknown): void {
  if (store === undefined) return;
  const { get, set } = (typeof store === "object" && store !== null ? store : {}) as {
    readonly get?: unknown;
    readonly set?: unknown;
  }; // any value is possible
  if (typeof get !== "function" || typeof set !== "function")
    throw new ValidationError(
      `cache store must have get(key) and set(key, entry), got: ${preview(store)}`,
    );
}
