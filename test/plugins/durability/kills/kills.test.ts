// The process of three runs is killed repeatedly. `DURABLE_KILLS` sets the number of kills. From 60
// on, PostgreSQL is also used, and a kill follows each write.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect } from "chai";
import type { Kill } from "./killed-process.js";
import type { Outcome } from "./killed-run.js";
import type { RunSummary } from "./summary.js";
import { onServer, needPostgres, POSTGRES_URL } from "../../../support/postgres.js";
import { seedOf } from "../../../support/random-seed.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { sumOf } from "./counting-world.js";
import { runKilled } from "./killed-run.js";

const KILLS = Number(process.env["DURABLE_KILLS"] ?? 8);
const MANY = 60;
/**
 * Each program has about 130 entries and 75 requests: it is killed several times before its end.
 */
const MOST_WRITES = 30;
const MOST_REQUESTS = 20;
const LONGEST_MS = 30;
/** Calls that a process has in flight. */
const MOST_AT_ONCE = 6;

/** Numbers from 0 to below 2^32 that follow from a seed. */
function* random(seed: number): Generator<number, never> {
  for (let n = 0; ; n++) yield createHash("sha256").update(`${seed}/${n}`).digest().readUInt32BE(0);
}

/** Kills at writes and between writes, alternately. */
function* killsOf(seed: number, count: number): Generator<Kill, undefined> {
  const numbers = random(seed);
  const upTo = (most: number): number => 1 + (numbers.next().value % most);
  for (let n = 0; n < count; n++)
    yield n % 2 === 0
      ? { write: upTo(MOST_WRITES), moment: upTo(2) === 1 ? "before" : "after" }
      : { request: upTo(MOST_REQUESTS), delayMs: upTo(LONGEST_MS) };
  return undefined;
}

function expectSame(killed: Outcome, whole: Outcome, seed: number): void {
  const at = `FUZZ_SEED=${seed}`;
  expect(killed.runs, at).to.deep.equal(whole.runs);
  expect([...killed.payments].sort(), at).to.deep.equal([...whole.payments].sort());
  expect([...killed.mails].sort(), at).to.deep.equal([...whole.mails].sort());
  expect([...killed.answered].sort(), at).to.deep.equal([...whole.paid].sort());
  expect(repeatedBy(killed), at).to.be.at.most(killed.kills * MOST_AT_ONCE);
}

/** Calls that were in flight at a kill and were repeated. */
const repeatedBy = ({ paid, answered }: Outcome): number => sumOf(paid) - sumOf(answered);

describe("a program that is killed repeatedly", function () {
  this.timeout(30_000 + KILLS * 20_000);
  let whole: Outcome;
  before(async () => {
    whole = await runKilled({ folder: join(temporaryFolder(), "runs") }, killsOf(0, 0));
  });

  it("makes each call once if it is not killed, with the totals of the vendor", () => {
    const { runs } = whole;
    expect(runs.map((run) => [run.exitReason, run.error])).to.deep.equal(
      runs.map(() => ["COMPLETED", undefined]),
    );
    const total = (pick: (totals: RunSummary["totals"]) => number): number =>
      runs.reduce((sum, { totals }) => sum + pick(totals), 0);
    expect(total(({ llmCallCount }) => llmCallCount)).to.equal(sumOf(whole.paid));
    expect(total(({ inputTokens }) => inputTokens)).to.equal(whole.tokens.input);
    expect(total(({ outputTokens }) => outputTokens)).to.equal(whole.tokens.output);
    expect([...whole.answered].sort()).to.deep.equal([...whole.paid].sort());
    expect(whole.mails.size).to.equal(6);
    expect([...whole.mails.values()].map((texts) => texts.length)).to.deep.equal([1, 1, 1, 1, 1, 1]); // prettier-ignore
    expect(whole.payments.size).to.equal(10);
  });

  const places = {
    "in a folder": () => ({ folder: join(temporaryFolder(), "runs") }),
    "on PostgreSQL": () => ({ url: POSTGRES_URL, schema: "ae_test_kills" }),
  };
  for (const [title, place] of Object.entries(places))
    it(`reaches the same end, repeats no answered call, and sends one mail, with its journal ${title}`, async function () {
      if (title !== "in a folder") {
        if (KILLS < MANY) return this.skip();
        await needPostgres(this);
      }
      const seed = seedOf(process.env["FUZZ_SEED"]);
      const dropped = (): unknown =>
        title === "in a folder" || onServer(`drop schema if exists "ae_test_kills" cascade`);
      for (let done = 0, round = 0; done < KILLS; round++) {
        await dropped();
        const kills = killsOf(seed + round, KILLS - done);
        const killed = await runKilled(place(), kills, { seed: seed + round, whole: whole.paid });
        expectSame(killed, whole, seed + round);
        if (KILLS >= MANY)
          console.log(`      FUZZ_SEED=${seed + round}: ${killed.kills} kills, ${repeatedBy(killed)} calls in flight made again`); // prettier-ignore
        done += killed.kills;
      }
      await dropped();
    });

  it("reaches the same end after a kill following each write", async function () {
    if (KILLS < MANY) return this.skip();
    this.timeout(3_600_000);
    for (let write = 1; ; write++) {
      const kills = [{ write, moment: "after" } as const].values();
      const place = { folder: join(temporaryFolder(), "runs") };
      const killed = await runKilled(place, kills, { seed: write, whole: whole.paid });
      if (killed.kills === 0) break; // the program ends before this write
      expectSame(killed, whole, write);
    }
  });
});
