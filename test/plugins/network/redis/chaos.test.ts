import { chaos, chaosAtSteps } from "../chaos/chaos.js";
import { expectNothingLost } from "../chaos/expect-nothing-lost.js";
import { OwnRedis } from "../../../support/own-redis.js";

describe("services on BullMQ", function () {
  this.timeout(300_000);
  let server: OwnRedis;
  before(async function () {
    server = await OwnRedis.make(this);
  });
  after(() => server?.kill());

  it("lose nothing when processes and Redis are killed during work", async () => {
    const place = { url: server.url, prefix: "kills" };
    const restart = (): Promise<void> => server.restart();
    expectNothingLost(await chaos({ place, requests: 500, kills: 3, restarts: 1, restart }));
  });

  it("lose nothing when a process is killed at any step of a delivery", async () => {
    expectNothingLost(await chaosAtSteps({ url: server.url, prefix: "steps" }));
  });
});
