import { expect } from "chai";
import type { NetworkBackend } from "../../../../src/contracts/network.js";
import { nats } from "../../../../src/network-nats.js";
import { Transport } from "../../../../src/network.js";
import { catalogueContract } from "../../../../src/plugins/testing/catalogue-contract.js";
import { requestQueueContract } from "../../../../src/plugins/testing/request-queue-contract.js";
import { resultStoreContract } from "../../../../src/plugins/testing/result-store-contract.js";
import { topicsContract } from "../../../../src/plugins/testing/topics-contract.js";
import { transportContract } from "../../../../src/plugins/testing/transport-contract.js";
import { dropNats, NATS_URL, natsPrefix, needNats } from "../../../support/nats.js";

/** A place in the server, and clients of it. */
class Place {
  readonly #prefix = natsPrefix();
  readonly #backends: NetworkBackend[] = [];

  readonly open = (): NetworkBackend => {
    const backend = nats({ servers: NATS_URL, prefix: this.#prefix });
    this.#backends.push(backend);
    return backend;
  };

  readonly dispose = async (): Promise<void> => {
    for (const backend of this.#backends) await backend.close();
    await dropNats(this.#prefix);
  };
}

describe("nats()", function () {
  this.timeout(60_000);
  before(function () {
    return needNats(this);
  });

  it("dequeues nothing if the signal is aborted, even without a server", async () => {
    const backend = nats({ servers: "nats://127.0.0.1:9" });
    const wait = { timeoutMs: 60_000, leaseMs: 60_000 };
    const aborted = AbortSignal.abort();
    expect(await backend.queue.dequeue("q", { ...wait, signal: aborted })).to.equal(undefined);
    const leaving = new AbortController();
    const waiting = backend.queue.dequeue("q", { ...wait, signal: leaving.signal });
    leaving.abort();
    expect(await waiting).to.equal(undefined);
    await backend.close();
  });

  requestQueueContract("NATS", {
    reopens: true,
    leaseMs: 300,
    capabilities: { priorities: false, ageing: false, exactCapacity: false },
    create: () => {
      const { open, dispose } = new Place();
      const { queue } = open();
      return { queue, another: () => open().queue, reopen: () => open().queue, dispose };
    },
  });
  resultStoreContract("NATS", {
    reopens: true,
    ttlMs: 100,
    create: () => {
      const { open, dispose } = new Place();
      const { results } = open();
      return {
        store: results,
        another: () => open().results,
        reopen: () => open().results,
        dispose,
      };
    },
  });
  topicsContract("NATS", {
    create: () => {
      const { open, dispose } = new Place();
      return { topics: open().topics, another: () => open().topics, dispose };
    },
  });
  catalogueContract("NATS", {
    ttlMs: 100,
    create: () => {
      const { open, dispose } = new Place();
      return { catalogue: open().catalogue, another: () => open().catalogue, dispose };
    },
  });
  transportContract("NATS", {
    create: () => {
      const { open, dispose } = new Place();
      return {
        transport: Transport.of("kitchen", open()),
        another: () => Transport.of("kitchen", open()),
        dispose,
      };
    },
  });
});
