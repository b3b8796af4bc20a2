// Takes too long for `npm test`: the step `chaos` of `npm run ci:full`.
import { natsPrefix, needNats } from "../../../support/nats.js";
import { NatsProcess } from "../../../support/nats-process.js";
import { chaos, chaosAtSteps, type ChaosReport } from "../chaos/chaos.js";
import { expectNothingLost } from "../chaos/expect-nothing-lost.js";
import { JournalDatabase } from "../chaos/journal-database.js";

const REQUESTS = Number(process.env["CHAOS_REQUESTS"] ?? 10_000);
const KILLS = Number(process.env["CHAOS_KILLS"] ?? 20);
const RESTARTS = 3;

function show({ seconds, startedAgain }: ChaosReport): void {
  console.log(`      ${seconds.toFixed(0)} s, ${startedAgain} executions were repeated`);
}

describe("services on NATS whose processes and server are killed", function () {
  this.timeout(30 * 60_000);
  const server = new NatsProcess();
  before(async function () {
    await needNats(this);
    await server.start();
  });
  after(() => server.kill());

  it(`loses none of ${REQUESTS} requests`, async () => {
    const { restart, url } = server;
    const report = await chaos({
      place: { url, prefix: natsPrefix() },
      requests: REQUESTS,
      kills: KILLS,
      restarts: RESTARTS,
      restart,
    });
    show(report);
    expectNothingLost(report);
  });

  it("finishes what processes have left at each step of a delivery", async () => {
    expectNothingLost(await chaosAtSteps({ url: server.url, prefix: natsPrefix() }));
  });

  it("makes no finished call again with a journal in PostgreSQL", async function () {
    const journal = new JournalDatabase();
    await journal.open(this);
    try {
      const place = { url: server.url, prefix: natsPrefix() };
      const { url } = journal;
      expectNothingLost(
        await chaos({ place, requests: 500, kills: 8, journal: url, leaseMs: 3_000 }),
      );
    } finally {
      await journal.close();
    }
  });
});
