// Takes too long for `npm test`: the step `chaos` of `npm run ci:full`.
import { OwnServer } from "../../durability/sql/own-server.js";
import { longChaos } from "../chaos/long-chaos.js";

describe("services on PostgreSQL, for long", function () {
  this.timeout(30 * 60_000);
  let server: OwnServer;
  let places = 0;
  before(async function () {
    server = await OwnServer.make(this);
  });
  after(() => server?.stop("SIGKILL"));

  longChaos({
    place: () => ({ url: server.url, prefix: `long${++places}` }),
    async restart() {
      await server.stop("SIGKILL");
      await server.start();
    },
  });
});
