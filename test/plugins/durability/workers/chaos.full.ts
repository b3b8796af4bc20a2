// Takes too long for `npm test`: the step `chaos` of `npm run ci:full`.
import { OwnServer } from "../sql/own-server.js";
import { expectFleetKeepsAll } from "./fleet.js";

describe("workers that are killed for a minute, while the database is restarted twice", function () {
  this.timeout(15 * 60_000);
  let server: OwnServer;
  before(async function () {
    server = await OwnServer.make(this);
  });
  after(() => server?.stop("SIGKILL"));

  it("lose no run, and make no finished model call again", () => {
    const restart = async (): Promise<void> => {
      await server.stop("SIGKILL");
      await server.start();
    };
    return expectFleetKeepsAll({
      url: server.url,
      schema: "fleet",
      runs: 400,
      killsForMs: 60_000,
      restarts: [restart, restart],
    });
  });
});
