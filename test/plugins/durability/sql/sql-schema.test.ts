import { expect } from "chai";
import { JournalError } from "../../../../src/contracts/journal-errors.js";
import { openSqlJournal } from "../../../../src/plugins/durability/shared/sql/sql-journal.js";
import { SCHEMA_VERSION } from "../../../../src/plugins/shared/sql/migrations.js";
import { needPostgres, onServer, POSTGRES_URL } from "../../../support/postgres.js";
import { rejection } from "../../../support/rejection.js";
import { journalsOnPostgres } from "./journals.js";
import { claimRun, keysOf, step } from "./processes.js";

const hintOf = (error: unknown): unknown => JournalError.isInstance(error) && error.hint;

describe("the schema of SQL journals", function () {
  this.timeout(60_000);

  it("has a name of lowercase letters, digits and _ only", () => {
    for (const schema of [
      'a"; drop table runs; --',
      "A",
      "",
      "1a",
      "pg_catalog",
      "a".repeat(49),
      "a-b",
    ])
      expect(() => openSqlJournal({ url: "pglite:memory", schema }), schema).to.throw(
        /schema must be/,
      );
    for (const url of ["", "mysql://ana:s3cr3t@host/db", "pglite:"])
      expect(() => openSqlJournal({ url }), url)
        .to.throw(/Journal url/)
        .that.not.matches(/s3cr3t/);
    expect(() => openSqlJournal({ url: "pglite:memory", timeoutMs: 5 })).to.throw(/timeoutMs/);
    expect(() => openSqlJournal({ url: "pglite:memory", shema: "x" } as never)).to.throw(/schema/); // wrong on purpose
  });

  describe("on PostgreSQL", () => {
    const journals = journalsOnPostgres();
    const role = `ae_role_${process.pid}`;
    before(async function () {
      await needPostgres(this);
    });
    afterEach(() => journals.closeAll());
    after(() => journals.end());

    it("is created once by concurrent clients", async () => {
      const schema = journals.schema();
      const many = Array.from({ length: 6 }, () => journals.open(schema));
      await Promise.all(many.map((journal) => journal.get("r")));
      const rows = await onServer(`select version from "${schema}".migrations order by version`);
      expect(rows.map(({ version }) => version)).to.deep.equal(
        Array.from({ length: SCHEMA_VERSION }, (_, index) => index + 1),
      );
    });

    it("is refused by name if it has a later version", async () => {
      const schema = journals.schema();
      await journals.open(schema).get("r");
      await onServer(`insert into "${schema}".migrations (version) values (${SCHEMA_VERSION + 1})`);
      const error = await rejection(journals.open(schema).get("r"));
      await onServer(`delete from "${schema}".migrations where version > ${SCHEMA_VERSION}`);
      expect(JournalError.isInstance(error)).to.equal(true);
      expect(String(error))
        .to.include(schema)
        .and.include(`version ${SCHEMA_VERSION + 1}`);
    });

    it("is not affected by the names of runs, keys and tags", async () => {
      const journal = journals.open(journals.schema());
      const evil = "'; drop table runs; --";
      const claim = await claimRun(journal, evil);
      await journal.append(claim, step(evil, { task: evil, value: evil }));
      expect((await journal.list({ tags: { [evil]: evil } })).runs).to.deep.equal([]);
      expect(await keysOf(journal, evil)).to.deep.equal([evil]);
      for (const after of [evil, "1.5", "-1"])
        expect(await rejection(journal.list({ after }))).to.have.property("code", "AE_VALIDATION");
    });

    it("requires a role that may create it once, and later only the rights that the error names", async () => {
      const schema = journals.schema();
      const url = new URL(POSTGRES_URL);
      url.username = role;
      url.password = "s3cr3t";
      await onServer(`create role ${role} login password 's3cr3t'`);
      const journal = openSqlJournal({ url: url.href, schema });
      try {
        const missing = await rejection(claimRun(journal, "r"));
        expect(JournalError.isInstance(missing)).to.equal(true);
        await journals.open(schema).get("r");
        const unreadable = await rejection(claimRun(journal, "r"));
        expect(String(unreadable)).to.include(schema).and.not.include("s3cr3t");
        expect(hintOf(missing)).to.include(String(hintOf(unreadable)));
        const grants = /grant usage on schema .*$/.exec(String(hintOf(unreadable)))?.[0] ?? "";
        await onServer(
          ...grants
            .split(";")
            .filter((part) => part.trim() !== "")
            .map((part) => part.replace("ROLE", role)),
        );
        const claim = await claimRun(journal, "r");
        await journal.append(claim, step("a"));
        await journal.release(claim, { status: "completed" });
        expect(await journal.delete("r")).to.equal(true);
      } finally {
        await journal.close();
        await onServer(`drop owned by ${role}`, `drop role ${role}`);
      }
    });
  });
});
