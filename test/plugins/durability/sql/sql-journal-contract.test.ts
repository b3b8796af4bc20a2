import { journalContract } from "../../../../src/plugins/testing/journal-contract.js";
import { needPostgres, testsPglite } from "../../../support/postgres.js";
import { journalsOnPglite, journalsOnPostgres, type OpenJournals } from "./journals.js";

function contract(name: string, journals: OpenJournals): void {
  journalContract(name, {
    create: () => {
      const schema = journals.schema();
      return {
        journal: journals.open(schema),
        reopen: () => journals.open(schema),
        another: () => journals.open(schema),
        dispose: () => journals.closeAll(),
      };
    },
    shared: true,
    reopens: true,
  });
}

const pglite = await testsPglite();

describe("the SQL journal", function () {
  this.timeout(120_000);

  describe("on PostgreSQL", () => {
    before(async function () {
      await needPostgres(this);
    });
    const journals = journalsOnPostgres();
    after(() => journals.end());
    contract("PostgreSQL", journals);
  });

  if (pglite)
    describe("on PGlite", () => {
      const journals = journalsOnPglite();
      after(() => journals.end());
      contract("PGlite", journals);
    });
});
