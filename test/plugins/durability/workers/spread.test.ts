import { POSTGRES_URL, suiteSchema } from "../../../support/postgres.js";
import { expectSpread } from "./spread-fleet.js";

describe("a map-reduce that is spread over workers", function () {
  this.timeout(240_000);
  const schema = suiteSchema("ae_spread");

  it("has the same result as without kills, and repeats no finished model call", async () => {
    await expectSpread({
      ...{ url: POSTGRES_URL, schema, workers: 2, kills: 2, latencyMs: 5, compares: true },
      ...{ items: 300, unit: 20, units: 4, window: 100 },
    });
  });
});
