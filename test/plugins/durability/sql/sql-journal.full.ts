// Takes too long for `npm test`: a step of `npm run ci:full`.
import { expect } from "chai";
import { join } from "node:path";
import type { Journal } from "../../../../src/contracts/journal.js";
import { openSqlJournal } from "../../../../src/plugins/durability/shared/sql/sql-journal.js";
import { JournalError } from "../../../../src/contracts/journal-errors.js";
import { reviewNamed } from "../../../../src/plugins/testing/journal-runs.js";
import { rejection } from "../../../support/rejection.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { pause, until } from "../../../support/time.js";
import { OwnServer } from "./own-server.js";
import { claimRun, HolderProcess, keysOf, step } from "./processes.js";

describe("a SQL journal whose server is restarted", function () {
  this.timeout(180_000);
  let server: OwnServer;
  let journal: Journal;
  before(async function () {
    server = await OwnServer.make(this);
    journal = openSqlJournal({ url: server.url });
  });
  after(async () => {
    await journal?.close();
    await server?.stop("SIGKILL");
  });

  for (const signal of ["SIGINT", "SIGKILL"] as const)
    it(`loses no entry when the server is away for five seconds after ${signal}, and keeps the claim`, async () => {
      const claim = await claimRun(journal, signal);
      const written: string[] = [];
      let isOver = false;
      const writer = async (own: number): Promise<void> => {
        for (let n = 0; !isOver; n++) {
          await journal.append(claim, step(`${own}-${n}`));
          written.push(`${own}-${n}`);
        }
      };
      const writing = Promise.all([0, 1, 2, 3].map(writer));
      const { reviews } = journal;
      await reviews.ask({ ...reviewNamed(signal, "q"), reviewId: signal });
      const deciding = reviews.waitFor(signal, new AbortController().signal);
      await pause(300);
      await server.stop(signal);
      const before = written.length;
      const renewing = journal.renew(claim);
      await pause(5_000);
      expect(written.length - before, "acknowledged by a server that was away").to.be.at.most(4);
      await server.start();
      expect(await renewing).to.deep.equal({ state: "held" });
      await until(
        () => written.length > before + 4,
        () => "no entry was written after the restart",
        60_000,
      );
      isOver = true;
      await writing;
      expect([...(await keysOf(journal, signal))].sort()).to.deep.equal([...written].sort());
      await reviews.resolve(signal, { type: "CONTINUE", by: "ana" });
      expect((await deciding).by).to.equal("ana");
    });

  it("fails with a typed error while the server is unavailable, and continues when it is back", async () => {
    const impatient = openSqlJournal({ url: server.url, timeoutMs: 300 });
    try {
      const claim = await claimRun(impatient, "r");
      await server.stop("SIGINT");
      const error = await rejection(impatient.append(claim, step("a")));
      expect(error).to.have.property("code", "AE_JOURNAL");
      await server.start();
      await impatient.append(claim, step("a"));
      expect(await keysOf(impatient, "r")).to.deep.equal(["a"]);
    } finally {
      await impatient.close();
    }
  });
});

describe("a SQL journal in a folder of PGlite", function () {
  this.timeout(180_000);

  it("keeps all data for the next process, and the folder for one process at a time", async () => {
    const url = `pglite:${join(temporaryFolder(), "runs")}`;
    const journal = openSqlJournal({ url });
    expect(journal.reviews.howToAnswer?.("q")).to.match(/ --store pglite:\/.*\/runs$/);
    const claim = await claimRun(journal, "r");
    await journal.append(claim, step("a"));
    const second = openSqlJournal({ url });
    const error = await rejection(second.get("r"));
    await second.close();
    expect(JournalError.isInstance(error) && error.message).to.match(
      /runs is in use by this process$/,
    );
    await journal.release(claim, { status: "waiting", waitsFor: "Ana" });
    await journal.close();
    const next = openSqlJournal({ url });
    try {
      expect(await keysOf(next, "r")).to.deep.equal(["a"]);
      expect(await next.get("r")).to.include({ status: "waiting", waitsFor: "Ana" });
    } finally {
      await next.close();
    }
  });

  it("is refused to other processes while in use, and keeps acknowledged entries if its process is killed", async () => {
    const url = `pglite:${join(temporaryFolder(), "runs")}`;
    const holder = new HolderProcess(url, "agentensemble", "r", 600);
    const other = openSqlJournal({ url });
    try {
      await holder.printed(10);
      expect(String(await rejection(other.get("r")))).to.include(`in use by ${holder.name} on `);
      await holder.kill();
      const { entries } = await claimRun(other, "r", { leaseMs: 5_000 });
      const keys = entries.map(({ key }) => key);
      expect(keys.slice(0, holder.lines.length - 1)).to.deep.equal(holder.lines.slice(1));
    } finally {
      await holder.kill();
      await other.close();
    }
  });
});
