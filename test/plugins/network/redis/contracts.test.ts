import { randomUUID } from "node:crypto";
import type { NetworkBackend } from "../../../../src/contracts/network.js";
import { bullmq } from "../../../../src/plugins/network/redis/index.js";
import {
  catalogueContract,
  requestQueueContract,
  resultStoreContract,
  topicsContract,
} from "../../../../src/testing.js";
import { needRedis, REDIS_URL, removeKeys } from "../../../support/redis.js";

/** Backends on one prefix, whose keys are removed after the last test. */
interface Place {
  open(): NetworkBackend;
  dispose(): Promise<void>;
}

const prefixes: string[] = [];

function newPlace(): Place {
  const prefix = `test-${randomUUID()}`;
  prefixes.push(prefix);
  const open: NetworkBackend[] = [];
  return {
    open() {
      const backend = bullmq({ url: REDIS_URL, prefix, leaseCheckMs: 100, timeoutMs: 20_000 });
      open.push(backend);
      return backend;
    },
    dispose: async () => {
      await Promise.all(open.map((backend) => backend.close()));
    },
  };
}

describe("a backend in Redis", () => {
  before(async function () {
    await needRedis(this);
  });
  after(async () => {
    for (const prefix of prefixes) await removeKeys(prefix);
  });

  requestQueueContract("BullMQ", {
    create() {
      const place = newPlace();
      const another = () => place.open().queue;
      return { queue: another(), another, reopen: another, dispose: () => place.dispose() };
    },
    reopens: true,
    leaseMs: 1_000,
    capabilities: { ageing: false, exactCapacity: false },
  });
  resultStoreContract("Redis", {
    create() {
      const place = newPlace();
      const another = () => place.open().results;
      return { store: another(), another, reopen: another, dispose: () => place.dispose() };
    },
    reopens: true,
  });
  topicsContract("Redis", {
    create() {
      const place = newPlace();
      const another = () => place.open().topics;
      return { topics: another(), another, dispose: () => place.dispose() };
    },
  });
  catalogueContract("Redis", {
    create() {
      const place = newPlace();
      const another = () => place.open().catalogue;
      return { catalogue: another(), another, dispose: () => place.dispose() };
    },
  });
});
