import { allCases } from "../../../support/all-cases.js";
import { OwnServer } from "../../durability/sql/own-server.js";
import { chaos } from "../chaos/chaos.js";
import { expectNothingLost } from "../chaos/expect-nothing-lost.js";

if (allCases)
  describe("services on PostgreSQL", function () {
    this.timeout(300_000);
    let server: OwnServer;
    before(async function () {
      server = await OwnServer.make(this);
    });
    after(() => server?.stop("SIGKILL"));

    it("lose nothing when processes and the server are killed during work", async () => {
      const restart = async (): Promise<void> => {
        await server.stop("SIGKILL");
        await server.start();
      };
      const place = { url: server.url, prefix: "kills" };
      expectNothingLost(
        await chaos({ place, requests: 200, kills: 2, restarts: 1, restart, leaseMs: 2_000 }),
      );
    });
  });
