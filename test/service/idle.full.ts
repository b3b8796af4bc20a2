// Takes too long for `npm test`: a step of `npm run ci:full`.
import { join } from "node:path";
import { expect } from "chai";
import type { NetworkBackend as Backend } from "agentensemble/network";
import { Ensemble } from "agentensemble";
import { NetworkBackend } from "agentensemble/network";
import { nats } from "agentensemble/network/nats";
import { bullmq } from "agentensemble/network/redis";
import { needNats, dropNats, NATS_URL, natsPrefix } from "../support/nats.js";
import { needRedis, REDIS_URL, removeKeys } from "../support/redis.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { pause } from "../support/time.js";
import { handlerTask } from "./support.js";

/** Time in ms in which a service settles, and in which it is measured. */
const SETTLE_MS = 5_000;
const MEASURE_MS = 30_000;
/** The part of a core that an idle service may use, in percent. */
const MOST = 0.2;

/** The part of a core that an idle service with ten slots uses, in percent. */
async function idlePercent(backend: Backend): Promise<number> {
  const echo = handlerTask(() => "x");
  await using idle = new Ensemble({
    name: "idle",
    shareTasks: { echo },
    maxConcurrentRequests: 10,
  });
  await idle.start({ backend, port: 0, signals: false });
  await pause(SETTLE_MS);
  const [before, startedMs] = [process.cpuUsage(), performance.now()];
  await pause(MEASURE_MS);
  const { user, system } = process.cpuUsage(before);
  const percent = (user + system) / 10 / (performance.now() - startedMs);
  console.log(`      ${percent.toFixed(3)} % of a core`);
  return percent;
}

describe("an idle service", function () {
  this.timeout(120_000);

  it("uses next to nothing with requests in memory, and in a folder", async () => {
    expect(await idlePercent(NetworkBackend.inMemory())).to.be.below(MOST);
    const inFolder = NetworkBackend.file(join(temporaryFolder(), "network"));
    expect(await idlePercent(inFolder)).to.be.below(MOST);
    await inFolder.close();
  });

  it("uses next to nothing with Redis", async function () {
    await needRedis(this);
    const prefix = natsPrefix();
    const backend = bullmq({ url: REDIS_URL, prefix });
    expect(await idlePercent(backend)).to.be.below(MOST);
    await backend.close();
    await removeKeys(prefix);
  });

  it("uses next to nothing with NATS", async function () {
    await needNats(this);
    const prefix = natsPrefix();
    const backend = nats({ servers: NATS_URL, prefix });
    expect(await idlePercent(backend)).to.be.below(MOST);
    await backend.close();
    await dropNats(prefix);
  });
});
