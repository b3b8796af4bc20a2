import { expect } from "chai";
import { createServer, type Server, type Socket } from "node:net";
import { JournalError } from "../../../../src/contracts/journal-errors.js";
import { openSqlJournal } from "../../../../src/plugins/durability/shared/sql/sql-journal.js";
import { reviewNamed } from "../../../../src/plugins/testing/journal-runs.js";
import { needPostgres, onServer, POSTGRES_URL } from "../../../support/postgres.js";
import { rejection } from "../../../support/rejection.js";
import { pause } from "../../../support/time.js";
import { journalsOnPostgres } from "./journals.js";
import { claimRun, keysOf, step } from "./processes.js";

const ENTRIES = 500;
const CUTS = 6;
const application = `ae_cut_${process.pid}`;
const withName = (url: string): string =>
  `${url}${url.includes("?") ? "&" : "?"}application_name=${application}`;

describe("a SQL journal whose server fails", function () {
  this.timeout(60_000);

  describe("with a server", () => {
    const journals = journalsOnPostgres(withName(POSTGRES_URL));
    before(async function () {
      await needPostgres(this);
    });
    afterEach(() => journals.closeAll());
    after(() => journals.end());

    const cut = (): Promise<unknown> =>
      onServer(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${application}'`,
      );

    it("loses no acknowledged entry, and writes nothing twice, when connections are cut", async () => {
      const journal = journals.open(journals.schema());
      const claim = await claimRun(journal, "r");
      const written: string[] = [];
      let cuts = 0;
      const isEnough = (): boolean => written.length >= ENTRIES && cuts >= CUTS;
      const writer = async (own: number): Promise<void> => {
        for (let n = 0; !isEnough(); n++) {
          const key = `${own}-${n}`;
          await journal.append(claim, step(key));
          written.push(key);
        }
      };
      const cutter = async (): Promise<void> => {
        for (; !isEnough(); cuts++) {
          await pause(150);
          await cut();
        }
      };
      await Promise.all([cutter(), ...[0, 1, 2, 3].map(writer)]);
      expect([...(await keysOf(journal, "r"))].sort()).to.deep.equal([...written].sort());
      await journal.release(claim, { status: "completed" });
      expect((await journal.get("r"))?.status).to.equal("completed");
    });

    it("continues to wait for a decision when its connections are cut", async () => {
      const schema = journals.schema();
      const [asking, answering] = [journals.open(schema).reviews, journals.open(schema).reviews];
      await asking.ask(reviewNamed("r", "q"));
      const waiting = asking.waitFor("r-q", new AbortController().signal);
      await asking.pending();
      await cut();
      await answering.resolve("r-q", { type: "CONTINUE", by: "ana" });
      expect((await waiting).by).to.equal("ana");
    });

    it("refuses one entry, and writes the entries that wait with it", async () => {
      const journal = journals.open(journals.schema());
      const claims = await Promise.all(["r", "s"].map((id) => claimRun(journal, id)));
      const [first, second] = claims;
      if (first === undefined || second === undefined) throw new Error("two runs were claimed");
      const odd = { ...step("b"), kind: "\u0000" as "step" }; // no kind, and a text that the database refuses
      const ends = await Promise.allSettled([
        journal.append(first, step("a")),
        journal.append(first, odd),
        journal.append(second, step("c")),
      ]);
      expect(ends.map(({ status }) => status)).to.deep.equal([
        "fulfilled",
        "rejected",
        "fulfilled",
      ]);
      const cyclic: unknown[] = [];
      cyclic.push(cyclic);
      const error = await rejection(journal.append(first, step("d", { value: cyclic })));
      expect(error).to.have.property("code", "AE_VALIDATION");
      expect([await keysOf(journal, "r"), await keysOf(journal, "s")]).to.deep.equal([
        ["a"],
        ["c"],
      ]);
    });

    it("keeps keys of any length, and any text in all columns", async () => {
      const schema = journals.schema();
      const [journal, other] = [journals.open(schema), journals.open(schema)];
      const odd = '\ud800 \u0000 \\u0000 \\# " \\ \u2028';
      const long = "x".repeat(100_000);
      const tags = { [odd]: odd };
      const runStart = {
        runId: odd,
        ensemble: odd,
        inputs: odd,
        inputsHash: odd,
        tags,
        parentRunId: odd,
      };
      const signal = new AbortController().signal;
      const claim = await journal.claim({ start: runStart, owner: odd, leaseMs: 60_000, signal });
      const entries = [odd, long, `${long}y`].map((key) =>
        step(key, { task: `${key}@1`, hash: odd }),
      );
      for (const entry of [...entries, ...entries]) await journal.append(claim, entry);
      expect(
        (await other.entries(odd)).map(({ at: _, execution: __, ...entry }) => entry),
      ).to.deep.equal(entries);
      expect(await other.cancel(odd, odd)).to.equal(true);
      expect(await journal.renew(claim)).to.deep.equal({ state: "held", cancelReason: odd });
      expect(await other.get(odd)).to.deep.include({ ...runStart, owner: odd, cancelReason: odd });
      const { runs } = await other.list({ tags, ensemble: odd });
      expect(runs.map(({ runId }) => runId)).to.deep.equal([odd]);
    });

    it("reads a run of many pages", async () => {
      const journal = journals.open(journals.schema());
      const claim = await claimRun(journal, "r");
      const small = Array.from({ length: 1_100 }, (_, n) => `e${n}`);
      await Promise.all(small.map((key) => journal.append(claim, step(key))));
      // A random text that the database cannot compress.
      const value = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("base64");
      const large = Array.from({ length: 60 }, (_, n) => `l${n}`);
      await Promise.all(large.map((key) => journal.append(claim, step(key, { value }))));
      expect(await keysOf(journal, "r")).to.deep.equal([...small, ...large]);
    });
  });

  describe("without one", () => {
    const sockets: Socket[] = [];
    let server: Server | undefined;
    afterEach(async () => {
      for (const socket of sockets.splice(0)) socket.destroy();
      await new Promise<void>((resolve) =>
        server === undefined ? resolve() : server.close(() => resolve()),
      );
      server = undefined;
    });

    it("fails with the first call if no server answers, and names no password", async () => {
      const url = "postgres://ana:s3cr3t@127.0.0.1:1/db";
      const journal = openSqlJournal({ url });
      expect(journal.name).to.equal("PostgreSQL at 127.0.0.1:1/db");
      const error = await rejection(claimRun(journal, "r"));
      expect(JournalError.isInstance(error)).to.equal(true);
      expect(String(error)).to.include("ECONNREFUSED").and.not.include("s3cr3t");
      expect(journal.reviews.howToAnswer?.("q")).to.not.match(/s3cr3t|ana/);
      await journal.close();
      expect(JournalError.isInstance(await rejection(journal.get("r")))).to.equal(true);
    });

    it("fails with the first call if a server accepts and sends nothing", async () => {
      server = createServer((socket) => void sockets.push(socket));
      await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const port = typeof address === "object" ? address?.port : undefined;
      const journal = openSqlJournal({
        url: `postgres://ana@127.0.0.1:${port}/db`,
        timeoutMs: 100,
      });
      expect(JournalError.isInstance(await rejection(journal.get("r")))).to.equal(true);
      await journal.close();
    });
  });
});
