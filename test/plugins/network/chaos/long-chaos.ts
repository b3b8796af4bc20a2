import { chaos, chaosAtSteps, type ChaosReport } from "./chaos.js";
import type { ChaosPlace } from "./chaos-place.js";
import { expectNothingLost } from "./expect-nothing-lost.js";
import { JournalDatabase } from "./journal-database.js";

/** An engine that may be killed. */
export interface ChaosEngine {
  /** A place of the engine that only this test uses. */
  place(): ChaosPlace;
  /** Kills the engine and starts it again. Resolves when the engine answers. */
  restart(): Promise<void>;
}

function judged(report: ChaosReport): void {
  const { startedAgain, mayStartAgain, left, seconds } = report;
  console.log(`      ${JSON.stringify({ startedAgain, mayStartAgain, left, seconds })}`);
  expectNothingLost(report);
}

/** The tests of an engine that take too long for `npm test`. */
export function longChaos(engine: ChaosEngine): void {
  const restart = (): Promise<void> => engine.restart();
  for (const { requests, kills, restarts } of [
    { requests: 2_000, kills: 20, restarts: 0 },
    { requests: 2_000, kills: 6, restarts: 3 },
    { requests: 10_000, kills: 20, restarts: 3 },
  ])
    it(`lose none of ${requests} requests under ${kills} kills of processes and ${restarts} of the engine`, async () =>
      judged(await chaos({ place: engine.place(), requests, kills, restarts, restart })));

  it("lose none of 2000 requests when 20 processes are killed at the steps of a delivery", async () =>
    judged(await chaosAtSteps(engine.place(), { requests: 2_000, perStep: 4 })));

  it("repeat no finished call with a journal in PostgreSQL", async function () {
    const journal = new JournalDatabase();
    await journal.open(this);
    const { url } = journal;
    try {
      const work = { requests: 500, kills: 8, journal: url, leaseMs: 3_000 };
      judged(await chaos({ place: engine.place(), ...work }));
    } finally {
      await journal.close();
    }
  });
}
