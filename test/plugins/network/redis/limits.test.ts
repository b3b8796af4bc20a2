import { randomUUID } from "node:crypto";
import { RedisBudgets } from "../../../../src/plugins/network/redis/redis-budgets.js";
import { RedisLink } from "../../../../src/plugins/network/redis/redis-link.js";
import { RedisNames } from "../../../../src/plugins/network/redis/redis-names.js";
import { RedisRateWindow } from "../../../../src/plugins/network/redis/redis-rate-window.js";
import { budgetAccountContract, rateWindowContract } from "../../../../src/testing.js";
import { systemClock } from "../../../../src/util/runtime.js";
import { needRedis, REDIS_URL, removeKeys } from "../../../support/redis.js";

const LEASE_MS = 400;

/** Two clients of one storage, as in two processes. */
function pairOfClients<T>(open: (link: RedisLink, names: RedisNames) => T) {
  const prefix = `test-${randomUUID()}`;
  const links = [1, 2].map(
    () => new RedisLink({ url: REDIS_URL, prefix, timeoutMs: 10_000, clock: systemClock }),
  );
  const [here, there] = links.map((link) => open(link, new RedisNames(prefix)));
  if (here === undefined || there === undefined) throw new Error("two clients are needed");
  const dispose = async (): Promise<void> => {
    await Promise.all(links.map((link) => link.close()));
    await removeKeys(prefix);
  };
  return { here, there, dispose };
}

describe("limits in Redis", () => {
  before(async function () {
    await needRedis(this);
  });

  rateWindowContract("Redis", {
    shares: true,
    create() {
      const pair = pairOfClients((link, names) => new RedisRateWindow(link, names));
      return { window: pair.here, other: pair.there, dispose: pair.dispose };
    },
  });
  budgetAccountContract("Redis", {
    shares: true,
    create() {
      const pair = pairOfClients((link, names) => new RedisBudgets(link, names, LEASE_MS));
      return { accounts: pair.here, other: pair.there, dispose: pair.dispose };
    },
  });
});
