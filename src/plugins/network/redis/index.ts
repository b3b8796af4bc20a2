import type { NetworkBackend } from "../../../contracts/network.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireDuration } from "../../../contracts/validation.js";
import { systemClock } from "../../../util/runtime.js";
import { urlFilter } from "../shared/url-filter.js";
import { BullmqQueue } from "./bullmq-queue.js";
import { QueueRooms } from "./queue-rooms.js";
import { RedisBudgets } from "./redis-budgets.js";
import { RedisCatalogue } from "./redis-catalogue.js";
import { RedisLink } from "./redis-link.js";
import { RedisNames } from "./redis-names.js";
import { RedisRateWindow } from "./redis-rate-window.js";
import { RedisResults } from "./redis-results.js";
import { RedisTopics } from "./redis-topics.js";

/** Options of `bullmq()`. */
export interface BullmqOptions {
  /** The URL of Redis: `redis://user:password@host:6379/0`, or `rediss://` for TLS. */
  readonly url: string;
  /**
   * Prefix of the names of all keys and channels: letters, digits, `-` and `_`. Default
   * `agentensemble`.
   */
  readonly prefix?: string | undefined;
  /**
   * Time in milliseconds for which ids of completed requests are kept. Default 86,400,000 (one
   * day).
   */
  readonly idTtlMs?: number | undefined;
  /**
   * Interval of checks for expired leases, in milliseconds. A request is delivered again at most
   * twice this time after the end of its lease. Default: a tenth of the first lease, at least 250
   * and at most 5,000.
   */
  readonly leaseCheckMs?: number | undefined;
  /**
   * Time limit for a response of Redis, in milliseconds. After it, the call rejects. Default 5,000.
   */
  readonly timeoutMs?: number | undefined;
}

/** Time in milliseconds after which the reservation of a dead process is released. */
const BUDGET_LEASE_MS = 30_000;

/**
 * A backend that stores requests as jobs of BullMQ, and results, topics, catalogue and limits in
 * the same Redis. For any number of processes. Requires the packages `bullmq` and `ioredis`.
 * Connects at the first call.
 *
 * @throws ValidationError for an unknown or invalid option.
 */
export function bullmq(options: BullmqOptions): NetworkBackend {
  checkOptions("bullmq()", options, ["url", "prefix", "idTtlMs", "leaseCheckMs", "timeoutMs"]);
  const { url, prefix = "agentensemble", idTtlMs = 86_400_000 } = options;
  const { leaseCheckMs, timeoutMs = 5_000 } = options;
  checkUrl(url);
  if (typeof prefix !== "string" || !/^[\w-]{1,64}$/.test(prefix))
    throw new ValidationError(
      `prefix of bullmq() must have 1 to 64 letters, digits, - and _, got: ${preview(prefix)}`,
    );
  for (const [name, value] of Object.entries({ idTtlMs, leaseCheckMs, timeoutMs }))
    requireDuration(`bullmq() ${name}`, value);
  const clock = systemClock;
  const link = new RedisLink({ url, prefix, timeoutMs, clock });
  const names = new RedisNames(prefix);
  const rooms = new QueueRooms(link, { clock, idTtlMs, leaseCheckMs });
  return Object.freeze({
    name: "bullmq",
    queue: new BullmqQueue(link, rooms),
    results: new RedisResults(link, names, clock),
    topics: new RedisTopics(link, names),
    catalogue: new RedisCatalogue(link, names),
    limits: Object.freeze({
      rateWindow: new RedisRateWindow(link, names),
      budgetAccounts: new RedisBudgets(link, names, BUDGET_LEASE_MS),
    }),
    redact: urlFilter([url]),
    close: () => link.close(),
  });
}

/** Checks the URL. @throws ValidationError, without a password. */
function checkUrl(url: unknown): void {
  if (typeof url === "string" && /^rediss?:\/\/./.test(url) && URL.canParse(url)) return;
  const shown = typeof url === "string" ? url.replace(/\/\/.*@/s, "//***@") : url;
  throw new ValidationError(
    `url of bullmq() must be redis:// or rediss:// with a host, got: ${preview(shown)}`,
    { hint: "For instance redis://localhost:6379." },
  );
}
