// Takes too long for `npm test`: the step `chaos` of `npm run ci:full`.
import { OwnServer } from "../../durability/sql/own-server.js";
import { chaos, chaosAtSteps } from "../chaos/chaos.js";
import { expectNothingLost } from "../chaos/expect-nothing-lost.js";

describe("services on PostgreSQL, for long", function () {
  this.timeout(20 * 60_000);
  let server: OwnServer;
  before(async function () {
    server = await OwnServer.make(this);
  });
  after(() => server?.stop("SIGKILL"));

  for (const { requests, kills, restarts } of [
    { requests: 2_000, kills: 6, restarts: 3 },
    { requests: 10_000, kills: 20, restarts: 3 },
  ])
    it(`lose nothing of ${requests} requests under ${kills} kills of processes and ${restarts} of the server`, async () => {
      const restart = async (): Promise<void> => {
        await server.stop("SIGKILL");
        await server.start();
      };
      const place = { url: server.url, prefix: `r${requests}` };
      const report = await chaos({ place, requests, kills, restarts, restart });
      console.log(`      ${JSON.stringify(report)}`);
      expectNothingLost(report);
    });

  it("lose nothing when a process is killed at any step of a delivery", async () => {
    expectNothingLost(await chaosAtSteps({ url: server.url, prefix: "steps" }));
  });
});
