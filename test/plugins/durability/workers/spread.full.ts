// Takes too long for `npm test`: the step `spread` of `npm run ci:full`. `SPREAD_ITEMS` sets the number of items.
import { expect } from "chai";
import { POSTGRES_URL, suiteSchema } from "../../../support/postgres.js";
import { expectSpread } from "./spread-fleet.js";

const ITEMS = Number(process.env["SPREAD_ITEMS"] ?? 100_000);
const MOST_MIB = 400;
/** The heap limit of each worker: otherwise Node uses all free memory. */
const HEAP_MIB = 304;

describe("a large map-reduce over four workers", function () {
  this.timeout(90 * 60_000);
  const schema = suiteSchema("ae_spread_full");

  it("ends after 20 kills, repeats no finished call, and uses little memory in each process", async () => {
    const { mostMiB } = await expectSpread({
      ...{ url: POSTGRES_URL, schema, workers: 4, kills: 20, latencyMs: 200, leaseMs: 60_000 },
      ...{ items: ITEMS, unit: 50, units: 8, window: 2_000, compares: false, heapMiB: HEAP_MIB },
    });
    expect(mostMiB).to.be.below(MOST_MIB);
  });
});
