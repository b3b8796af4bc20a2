// Takes too long for `npm test`: the step `chaos` of `npm run ci:full`.
import { chaos } from "../chaos/chaos.js";
import { expectNothingLost } from "../chaos/expect-nothing-lost.js";
import { JournalDatabase } from "../chaos/journal-database.js";
import { OwnRedis } from "../../../support/own-redis.js";

describe("services on BullMQ, for long", function () {
  this.timeout(20 * 60_000);
  let server: OwnRedis;
  before(async function () {
    server = await OwnRedis.make(this);
  });
  after(() => server?.kill());

  for (const { requests, kills, restarts } of [
    { requests: 2_000, kills: 10, restarts: 0 },
    { requests: 2_000, kills: 6, restarts: 3 },
    { requests: 10_000, kills: 20, restarts: 3 },
  ])
    it(`lose nothing of ${requests} requests under ${kills} kills of processes and ${restarts} of Redis`, async () => {
      const place = { url: server.url, prefix: `r${requests}-${restarts}` };
      const restart = (): Promise<void> => server.restart();
      const report = await chaos({ place, requests, kills, restarts, restart });
      console.log(`      ${JSON.stringify(report)}`);
      expectNothingLost(report);
    });

  it("make no finished call again with a journal in PostgreSQL", async function () {
    const journal = new JournalDatabase();
    await journal.open(this);
    try {
      const place = { url: server.url, prefix: "journal" };
      const { url } = journal;
      expectNothingLost(
        await chaos({ place, requests: 500, kills: 8, journal: url, leaseMs: 3_000 }),
      );
    } finally {
      await journal.close();
    }
  });
});
