// Takes too long for `npm test`: the step `chaos` of `npm run ci:full`.
import { expect } from "chai";
import { POSTGRES_URL, suiteSchema } from "../../../support/postgres.js";
import { OwnServer } from "../sql/own-server.js";
import { expectFleetKeepsAll, takeOver } from "./fleet.js";

describe("workers that are killed for a minute, while the database is restarted twice", function () {
  this.timeout(15 * 60_000);
  let server: OwnServer;
  before(async function () {
    server = await OwnServer.make(this);
  });
  after(() => server?.stop("SIGKILL"));

  it("lose no run, and repeat no finished model call", async () => {
    const restart = async (): Promise<void> => {
      await server.stop("SIGKILL");
      await server.start();
    };
    await expectFleetKeepsAll({
      url: server.url,
      schema: "fleet",
      runs: 400,
      killsForMs: 60_000,
      restarts: [restart, restart],
    });
  });
});

describe("a worker that is stopped for longer than its lease, and continues", function () {
  this.timeout(240_000);
  const schema = suiteSchema("ae_stopped_worker");

  it("loses its leases and writes nothing more, and no run is lost", async () => {
    const { lost } = await expectFleetKeepsAll({
      ...{ url: POSTGRES_URL, schema, runs: 60, latencyMs: 300, killsForMs: 0, stopsOne: true },
    });
    expect(lost).to.be.above(0);
  });
});

describe("the run of a worker that is killed", function () {
  this.timeout(240_000);
  const schema = suiteSchema("ae_taken_over");

  it("continues in another worker within the lease and two seconds", async () => {
    const { tookMs, leaseMs } = await takeOver({ url: POSTGRES_URL, schema });
    console.log(`      after ${Math.round(tookMs)} ms, with a lease of ${leaseMs} ms`);
    expect(tookMs).to.be.below(leaseMs + 2_000);
  });
});
