import type { NetworkBackend } from "../../../contracts/network.js";
import type { NatsOptions } from "./nats-options.js";
import { backendOf } from "../shared/backend-of.js";
import { urlFilter } from "../shared/url-filter.js";
import { Broker } from "./broker.js";
import { NatsBudgets } from "./nats-budgets.js";
import { NatsCatalogue } from "./nats-catalogue.js";
import { natsSettings } from "./nats-options.js";
import { NatsQueue } from "./nats-queue.js";
import { NatsRateWindow } from "./nats-rate-window.js";
import { NatsResults } from "./nats-results.js";
import { NatsTopics } from "./nats-topics.js";

/** Time in ms after which the reservation of a dead process is released. */
const BUDGET_LEASE_MS = 30_000;

/**
 * A backend in NATS with JetStream, for any number of processes. Requests, results, leases, rate
 * limits and budgets survive restarts of clients and servers. Connects at the first call, and
 * creates missing streams and buckets. Requires the packages `@nats-io/transport-node`,
 * `@nats-io/jetstream` and `@nats-io/kv`, and a server of version 2.9 or later. Requests are
 * delivered in the order of acceptance. Priorities have no effect. Concurrent requests may exceed
 * `maxQueued`.
 *
 * @throws ValidationError for an unknown or invalid option.
 */
export function nats(options: NatsOptions): NetworkBackend {
  const broker = new Broker(natsSettings(options));
  const { servers } = options;
  const parts = backendOf({
    name: "nats",
    queue: new NatsQueue(broker),
    results: new NatsResults(broker),
    topics: new NatsTopics(broker),
    catalogue: new NatsCatalogue(broker),
    redact: urlFilter(typeof servers === "string" ? [servers] : servers),
    limits: Object.freeze({
      rateWindow: new NatsRateWindow(broker),
      budgetAccounts: new NatsBudgets(broker, BUDGET_LEASE_MS),
    }),
  });
  return Object.freeze({
    ...parts,
    close: async () => {
      try {
        await parts.close();
      } finally {
        await broker.close();
      }
    },
  });
}
