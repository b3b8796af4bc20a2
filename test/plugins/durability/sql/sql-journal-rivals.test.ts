import { expect } from "chai";
import { Client } from "pg";
import { RunFencedError, RunInUseError } from "../../../../src/contracts/journal-errors.js";
import { reviewNamed } from "../../../../src/plugins/testing/journal-runs.js";
import { needPostgres, onServer, POSTGRES_URL } from "../../../support/postgres.js";
import { rejection } from "../../../support/rejection.js";
import { pause, until } from "../../../support/time.js";
import { journalsOnPostgres } from "./journals.js";
import { claimRun, HolderProcess, keysOf, step } from "./processes.js";

const isSettled = async (work: Promise<unknown>, ms = 150): Promise<boolean> =>
  Promise.race([work.then(() => true).catch(() => true), pause(ms).then(() => false)]);

/** Sets a wrong clock for this process; returns a function that restores it. */
function setClockAhead(ms: number): () => void {
  const Right = Date;
  class Wrong extends Right {
    constructor(...args: readonly unknown[]) {
      super(...((args.length === 0 ? [Right.now() + ms] : args) as [number])); // the caller's arguments
    }
    static override now(): number {
      return Right.now() + ms;
    }
  }
  globalThis.Date = Wrong as DateConstructor;
  return () => void (globalThis.Date = Right);
}

describe("processes that compete for a run of a SQL journal", function () {
  this.timeout(60_000);
  const journals = journalsOnPostgres();
  const clients: Client[] = [];
  const holders: HolderProcess[] = [];

  before(async function () {
    await needPostgres(this);
  });
  afterEach(async () => {
    await Promise.all(holders.splice(0).map((holder) => holder.kill()));
    await Promise.all(clients.splice(0).map((client) => client.end()));
    await journals.closeAll();
  });
  after(() => journals.end());

  async function session(): Promise<Client> {
    const client = new Client({ connectionString: POSTGRES_URL });
    clients.push(client);
    await client.connect();
    return client;
  }

  it("write nothing for an old epoch if the takeover was committed while the write waited", async () => {
    const schema = journals.schema();
    const journal = journals.open(schema);
    const claim = await claimRun(journal, "r");
    await journal.append(claim, step("a"));
    const rival = await session();
    await rival.query("begin");
    await rival.query(`update "${schema}".leases set epoch = epoch + 100 where run_id = 'r'`);
    const late = journal.append(claim, step("late"));
    expect(await isSettled(late)).to.equal(false);
    await rival.query("commit");
    expect(RunFencedError.isInstance(await rejection(late))).to.equal(true);
    expect(await keysOf(journal, "r")).to.deep.equal(["a"]);
  });

  it("release a run while others of the process write continuously", async () => {
    const journal = journals.open(journals.schema());
    const busy = await claimRun(journal, "busy");
    const done = await claimRun(journal, "done");
    let isOver = false;
    const writing = Array.from({ length: 4 }, async (_, chain) => {
      for (let n = 0; !isOver; n++) await journal.append(busy, step(`${chain}-${n}`));
    });
    const last = journal.append(done, step("last"));
    await journal.release(done, { status: "completed" });
    isOver = true;
    await Promise.all([last, ...writing]);
    expect(await journal.get("done")).to.include({ status: "completed" });
    expect(await keysOf(journal, "done")).to.deep.equal(["last"]);
  });

  it("delay a takeover until a pending write has ended, and return its entry", async () => {
    const schema = journals.schema();
    const journal = journals.open(schema);
    await claimRun(journal, "r", { leaseMs: 1 });
    const writer = await session();
    await writer.query("begin");
    await writer.query(`select from "${schema}".leases where run_id = 'r' for share`);
    await writer.query(
      `insert into "${schema}".journal (run_id, key, kind, task, covers, value, execution) values ('r', 'slow', 'step', 't@1', false, '1', 1)`,
    );
    const takeover = claimRun(journal, "r");
    expect(await isSettled(takeover)).to.equal(false);
    await writer.query("commit");
    const { entries, record } = await takeover;
    expect(entries.map(({ key }) => key)).to.deep.equal(["slow"]);
    expect(record.executions).to.equal(2);
  });

  it("receive no epoch twice, even if the run was deleted and stored again", async () => {
    const schema = journals.schema();
    const [journal, other] = [journals.open(schema), journals.open(schema)];
    const old = await claimRun(journal, "r", { leaseMs: 1 });
    await pause(10);
    expect(await other.delete("r")).to.equal(true);
    const claim = await claimRun(other, "r");
    expect(RunFencedError.isInstance(await rejection(journal.append(old, step("late"))))).to.equal(
      true,
    );
    expect(await journal.renew(old)).to.deep.equal({ state: "lost" });
    expect(claim.epoch).to.be.greaterThan(old.epoch);
    expect(await keysOf(other, "r")).to.deep.equal([]);
  });

  it("judge a lease only by the clock of the database", async () => {
    const schema = journals.schema();
    const journal = journals.open(schema);
    const restore = setClockAhead(86_400_000);
    try {
      const claim = await claimRun(journal, "r");
      expect(await journal.renew(claim)).to.deep.equal({ state: "held" });
      const error = await rejection(claimRun(journal, "r", { leaseMs: 30, owner: "b" }));
      expect(RunInUseError.isInstance(error)).to.equal(true);
    } finally {
      restore();
    }
    const [row] = await onServer(
      `select abs(extract(epoch from lease_until - now()) - 60) < 10 as near from "${schema}".leases`,
    );
    expect(row?.["near"]).to.equal(true);
  });

  it("are refused immediately for a run whose holder renews its lease, and stop waiting when the signal aborts", async () => {
    const schema = journals.schema();
    const [journal, other] = [journals.open(schema), journals.open(schema)];
    const claim = await claimRun(journal, "r", { owner: "host:7" });
    const controller = new AbortController();
    const options = { leaseMs: 600_000, signal: controller.signal };
    const refused = rejection(claimRun(other, "r", options));
    const renewing = setInterval(() => void journal.renew(claim), 20);
    const error = await refused;
    clearInterval(renewing);
    expect(RunInUseError.isInstance(error) && error.owner).to.equal("host:7");
    const ended = rejection(claimRun(other, "r", options));
    const reason = new Error("no longer wanted");
    setTimeout(() => controller.abort(reason), 50);
    expect(await ended).to.equal(reason);
  });

  it("take over a run from a killed process, with all acknowledged entries", async () => {
    const schema = journals.schema();
    const journal = journals.open(schema);
    const holder = new HolderProcess(POSTGRES_URL, schema, "r", 900);
    holders.push(holder);
    await holder.printed(20);
    const error = await rejection(claimRun(journal, "r", { leaseMs: 2_000 }));
    expect(RunInUseError.isInstance(error) && error.owner).to.equal(holder.name);
    await holder.kill();
    const { entries, record } = await claimRun(journal, "r", { leaseMs: 5_000 });
    const keys = entries.map(({ key }) => key);
    expect(keys.slice(0, holder.lines.length - 1)).to.deep.equal(holder.lines.slice(1));
    expect(keys.length).to.be.at.most(holder.lines.length);
    expect([record.executions, record.fruitlessExecutions]).to.deep.equal([2, 0]);
  });

  it("begin a new run in one of two processes; the error of the other names the holder", async () => {
    const schema = journals.schema();
    const two = [1, 2].map(() => new HolderProcess(POSTGRES_URL, schema, "r", 3_000));
    holders.push(...two);
    await Promise.all(two.map((holder) => holder.printed(1)));
    const won = two.find(({ lines }) => lines[0] === "held");
    const lost = two.find((holder) => holder !== won);
    expect(lost?.lines[0]).to.match(new RegExp(`^failed AE_RUN_IN_USE .* ${won?.name}$`));
  });

  it("receive a review and its answer from another process by notification", async () => {
    const schema = journals.schema();
    const [asking, answering] = [journals.open(schema).reviews, journals.open(schema).reviews];
    const heard: string[] = [];
    const stop = answering.onRequest(({ reviewId }) => void heard.push(reviewId));
    await answering.pending();
    const taskOutput = "NUL \u0000, unpaired \udfff";
    const question = { ...reviewNamed("r", "\u0000-\ud800"), taskOutput };
    expect(await asking.ask(question)).to.deep.equal(question);
    const waiting = asking.waitFor(question.reviewId, new AbortController().signal);
    await until(() => heard.length > 0);
    stop();
    expect(heard).to.deep.equal([question.reviewId]);
    const decision = { type: "EDIT", revisedOutput: "\ud800 \u0000", by: "ana" } as const;
    expect((await answering.resolve(question.reviewId, decision)).outcome).to.equal("resolved");
    expect(await waiting).to.deep.equal(decision);
    expect(asking.howToAnswer?.("q")).to.match(
      /^agentensemble reviews answer q continue --store postgres:\/\/127\.0\.0\.1:5432\/test$/,
    );
  });

  it("end the wait for a review that is deleted with its run", async () => {
    const journal = journals.open(journals.schema());
    await journal.release(await claimRun(journal, "r"), { status: "waiting" });
    const { reviews } = journal;
    await reviews.ask(reviewNamed("r", "q"));
    const waiting = rejection(reviews.waitFor("r-q", new AbortController().signal));
    await journal.delete("r");
    expect(await waiting).to.have.property("code", "AE_REVIEW");
  });
});
