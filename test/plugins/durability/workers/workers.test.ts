import { POSTGRES_URL, suiteSchema } from "../../../support/postgres.js";
import { expectFleetKeepsAll } from "./fleet.js";

describe("workers that are killed", function () {
  this.timeout(240_000);
  const schema = suiteSchema("ae_fleet");

  it("lose no run, and repeat no finished model call", async () => {
    await expectFleetKeepsAll({ url: POSTGRES_URL, schema, runs: 20, killsForMs: 3_000 });
  });
});
