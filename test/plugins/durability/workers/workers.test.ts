import { needPostgres, onServer, POSTGRES_URL } from "../../../support/postgres.js";
import { expectFleetKeepsAll } from "./fleet.js";

describe("workers that are killed", function () {
  this.timeout(240_000);
  const schema = `ae_fleet_${process.pid}`;
  before(function () {
    return needPostgres(this);
  });
  after(() => onServer(`drop schema if exists "${schema}" cascade`).catch(() => undefined)); // no server

  it("lose no run, and make no finished model call again", async () => {
    await expectFleetKeepsAll({ url: POSTGRES_URL, schema, runs: 20, killsForMs: 3_000 });
  });
});
