import { expect } from "chai";
import type { RateTurn } from "../../../../src/contracts/rate-window.js";
import { RateLimit } from "../../../../src/index.js";
import { needPostgres, onServer } from "../../../support/postgres.js";
import { backendsOnPostgres, type OpenBackends } from "./backends.js";
import { backendSuites } from "./suites.js";

describe("the backend on PostgreSQL", function () {
  this.timeout(60_000);
  let backends: OpenBackends;
  before(async function () {
    await needPostgres(this);
    backends = backendsOnPostgres();
  });
  after(() => backends?.end());
  backendSuites("PostgreSQL", () => backends, true);

  it("keeps a call of a rate limit for its period", async () => {
    const period = 30 * 24 * 3_600_000;
    const { limits } = backends.open();
    const limit = { key: "agent:a", owner: {}, limit: RateLimit.of(1, period) };
    const take = () =>
      limits?.rateWindow.take({ limits: [limit], tokens: 0, signal: new AbortController().signal });
    const turn = (await take()) as RateTurn;
    turn.begin();
    turn.end(5);
    await take();
    const [row] = await onServer(
      `select extract(epoch from until - clock_timestamp())::float8 * 1000 as ms from "${backends.schema}".rate_calls where ended_at is not null`,
    );
    expect(row?.["ms"]).to.be.within(period - 60_000, period);
    await backends.closeAll();
  });
});
