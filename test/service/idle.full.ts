// Takes too long for `npm test`: a step of `npm run ci:full`.
import { join } from "node:path";
import { expect } from "chai";
import type { NetworkBackend as Backend } from "agentensemble/network";
import { Ensemble } from "agentensemble";
import { NetworkBackend } from "agentensemble/network";
import { nats } from "agentensemble/network/nats";
import { postgres } from "agentensemble/network/postgres";
import { bullmq } from "agentensemble/network/redis";
import { needNats, dropNats, NATS_URL, natsPrefix } from "../support/nats.js";
import { needPostgres, onServer, POSTGRES_URL } from "../support/postgres.js";
import { needRedis, REDIS_URL, removeKeys } from "../support/redis.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { pause } from "../support/time.js";
import { handlerTask } from "./support.js";

/** Time in ms for a service to become idle. */
const SETTLE_MS = 5_000;
/** Measured times in ms. V8 collects the garbage of the start within one or two of them. */
const WINDOW_MS = 5_000;
const WINDOWS = 9;
/** The part of a core that an idle service may use, in percent. */
const MOST = 0.2;

/** The part of a core that an idle service with ten slots uses, in percent: the median of the windows. */
async function idlePercent(backend: Backend): Promise<number> {
  const echo = handlerTask(() => "x");
  await using idle = new Ensemble({
    name: "idle",
    shareTasks: { echo },
    maxConcurrentRequests: 10,
  });
  await idle.start({ backend, port: 0, signals: false });
  await pause(SETTLE_MS);
  const percents: number[] = [];
  for (let window = 0; window < WINDOWS; window++) {
    const [before, startedMs] = [process.cpuUsage(), performance.now()];
    await pause(WINDOW_MS);
    const { user, system } = process.cpuUsage(before);
    percents.push((user + system) / 10 / (performance.now() - startedMs));
  }
  const percent = percents.sort((a, b) => a - b)[(WINDOWS - 1) / 2] ?? Number.NaN;
  console.log(
    `      ${percent.toFixed(3)} % of a core (${percents.map((one) => one.toFixed(3)).join(" ")})`,
  );
  return percent;
}

describe("an idle service", function () {
  this.timeout(180_000);

  it("uses almost no processor time with requests in memory, and in a folder", async () => {
    expect(await idlePercent(NetworkBackend.inMemory())).to.be.below(MOST);
    const inFolder = NetworkBackend.file(join(temporaryFolder(), "network"));
    expect(await idlePercent(inFolder)).to.be.below(MOST);
    await inFolder.close();
  });

  it("uses almost no processor time with Redis", async function () {
    await needRedis(this);
    const prefix = natsPrefix();
    const backend = bullmq({ url: REDIS_URL, prefix });
    expect(await idlePercent(backend)).to.be.below(MOST);
    await backend.close();
    await removeKeys(prefix);
  });

  it("uses almost no processor time with NATS", async function () {
    await needNats(this);
    const prefix = natsPrefix();
    const backend = nats({ servers: NATS_URL, prefix });
    expect(await idlePercent(backend)).to.be.below(MOST);
    await backend.close();
    await dropNats(prefix);
  });

  it("uses almost no processor time with PostgreSQL", async function () {
    await needPostgres(this);
    const schema = `ae_idle_${process.pid}`;
    const backend = postgres({ url: POSTGRES_URL, schema });
    try {
      expect(await idlePercent(backend)).to.be.below(MOST);
    } finally {
      await backend.close();
      await onServer(`drop schema if exists "${schema}" cascade`);
    }
  });
});
