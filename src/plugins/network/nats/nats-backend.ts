import type { NetworkBackend } from "../../../contracts/network.js";
import type { NatsOptions } from "./nats-options.js";
import { backendOf } from "../shared/backend-of.js";
import { Broker } from "./broker.js";
import { NatsCatalogue } from "./nats-catalogue.js";
import { natsSettings } from "./nats-options.js";
import { NatsQueue } from "./nats-queue.js";
import { NatsResults } from "./nats-results.js";
import { NatsTopics } from "./nats-topics.js";

/**
 * A backend in NATS with JetStream, for any number of processes. Requests, results and leases
 * survive the ends of clients and servers. It connects at the first call, and creates its streams
 * and buckets where they are missing. Needs the packages `@nats-io/transport-node`,
 * `@nats-io/jetstream` and `@nats-io/kv`, and a server of version 2.9 or later. Requests are
 * delivered in the order of acceptance: priorities have no effect. `maxQueued` may be exceeded by
 * requests at one moment.
 * @throws ValidationError for an unknown or invalid option.
 */
export function nats(options: NatsOptions): NetworkBackend {
  const broker = new Broker(natsSettings(options));
  const parts = backendOf({
    name: "nats",
    queue: new NatsQueue(broker),
    results: new NatsResults(broker),
    topics: new NatsTopics(broker),
    catalogue: new NatsCatalogue(broker),
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
