import { RunStoreError, ValidationError } from "agentensemble";
import { expect } from "chai";
import type { RunStore as Store } from "../../../../src/contracts/run-store.js";
import { PgliteDatabase } from "../../../../src/plugins/shared/sql/pglite-database.js";
import { SqlRuns } from "../../../../src/plugins/dashboard/stores/sql/sql-runs.js";
import { RunStore } from "../../../../src/plugins/dashboard/stores/run-store.js";
import { runStoreContract } from "../../../../src/plugins/testing/run-store-contract.js";
import { needPostgres, onServer, POSTGRES_URL, testsPglite } from "../../../support/postgres.js";
import { rejectionOf } from "../../../support/rejection.js";
import { sharedPglite } from "../../../support/shared-pglite.js";
import { entryOf, summaryOf } from "./summaries.js";

const SCHEMA = `ae_runs_${process.pid}`;
const TABLES = ["summaries", "events", "boards"];

async function idsIn(store: Store): Promise<readonly string[]> {
  return (await store.list({})).runs.map(({ runId }) => runId);
}

/** A store of the contract, with the others that a test opens on the same tables. */
function underTest(
  open: () => Store,
  empty: () => Promise<unknown>,
): {
  readonly store: Store;
  readonly reopen: () => Promise<Store>;
  readonly dispose: () => Promise<void>;
} {
  const store = open();
  const others: Store[] = [];
  return {
    store,
    reopen: async () => {
      await store.dispose?.();
      const other = open();
      others.push(other);
      return other;
    },
    dispose: async () => {
      for (const other of others) await other.dispose?.();
      await empty();
    },
  };
}

/** A database with the tables of the stores under test. */
interface Tables {
  readonly open: () => Store;
  readonly query: (statement: string) => Promise<unknown>;
}

async function emptyTables({ query }: Tables): Promise<void> {
  for (const table of TABLES) await query(`delete from "${SCHEMA}".${table}`);
}

/** Tests what holds on each database. */
function storeCases(name: string, tables: Tables): void {
  const { open, query } = tables;
  const empty = (): Promise<unknown> => emptyTables(tables);

  runStoreContract(name, { reopens: true, create: () => underTest(open, empty) });

  it("shows runs in progress as interrupted after their process was silent for a minute", async () => {
    const [store, other] = [open(), open()];
    await store.put(summaryOf("a", { state: "running" }));
    await store.put(summaryOf("b", { state: "waiting", exitReason: "SUSPENDED" }));
    expect((await other.get("a"))?.state).to.equal("running");
    const age = (seconds: number): string =>
      `update "${SCHEMA}".boards set seen_at = clock_timestamp() - interval '${seconds} seconds'`;
    await query(age(50));
    expect((await other.get("a"))?.state).to.equal("running");
    await query(age(61));
    expect((await other.get("a"))?.state).to.equal("interrupted");
    expect(
      (await other.list({ state: "interrupted" })).runs.map(({ runId }) => runId),
    ).to.deep.equal(["a"]);
    expect((await other.list({ state: "running" })).total).to.equal(0);
    expect((await other.list({})).sums?.states).to.deep.equal({ interrupted: 1, waiting: 1 });
    expect((await other.get("b"))?.state).to.equal("waiting");
    await other.put(summaryOf("a", { state: "done" }));
    expect((await other.get("a"))?.state).to.equal("done");
    for (const opened of [store, other]) await opened.dispose?.();
    await empty();
  });

  it("keeps ids and texts that databases refuse, and finds them again", async () => {
    const store = open();
    const odd = ["a'; drop table runs --", "line\nbreak", "\u{1F980}", "a\\b", 'q"uote', "\u0001"];
    for (const id of odd) {
      await store.append(id, [entryOf(0, { text: `${id} \0 \ud800` })]);
      await store.put(summaryOf(id, { ensemble: id, tags: { [id]: "1" }, inputs: { text: "\0" } }));
    }
    for (const id of odd) {
      expect((await store.get(id))?.runId).to.equal(id);
      expect(await idsIn(store)).to.include(id);
      expect((await store.list({ ensemble: id, tags: { [id]: "1" } })).total).to.equal(1);
      expect((await store.read(id, -1, 5))[0]).to.include({ text: `${id} \0 \ud800` });
    }
    expect((await store.list({ text: "\0" })).total).to.equal(0);
    await store.dispose?.();
    await rejectionOf(RunStoreError, Promise.resolve(store.put(summaryOf("a"))));
    await empty();
  });
}

describe("RunStore.sql", () => {
  it("refuses invalid URLs and options", () => {
    expect(() => RunStore.sql({ url: "mysql://x" })).to.throw(ValidationError, "RunStore.sql url");
    expect(() => RunStore.sql({ url: "pglite:memory", schema: "A" })).to.throw(ValidationError);
    expect(() => RunStore.sql({ url: "pglite:memory", prefix: "a" } as never)).to.throw(
      ValidationError,
      "Unknown option 'prefix'",
    );
  });
});

if (await testsPglite())
  describe("RunStore.sql on PGlite", function () {
    this.timeout(60_000);
    const database = new PgliteDatabase(undefined, false);

    after(() => database.close());

    storeCases("on PGlite", {
      open: () => new SqlRuns(sharedPglite(database), SCHEMA),
      query: (statement) => database.query(statement, []),
    });
  });

describe("RunStore.sql on PostgreSQL", function () {
  this.timeout(60_000);
  const open = (): Store => RunStore.sql({ url: POSTGRES_URL, schema: SCHEMA });
  const empty = (): Promise<unknown> => emptyTables({ open, query: onServer });
  let answers = false;

  before(async function () {
    await needPostgres(this);
    answers = true;
  });
  after(async () => {
    if (answers) await onServer(`drop schema if exists "${SCHEMA}" cascade`);
  });

  storeCases("on PostgreSQL", { open, query: onServer });

  it("accepts runs of several concurrent writers, and one run with several writers", async () => {
    const stores = [open(), open(), open()];
    await Promise.all(
      stores.map(async (store, i) => {
        for (let n = 0; n < 40; n += 10) {
          const entries = Array.from({ length: 10 }, (_, k) => entryOf(n + k));
          await store.append("shared", entries);
          await store.append(`own ${i}`, entries);
          await store.put(summaryOf(`own ${i}`, { n, state: "running" }));
          await store.put(summaryOf("shared", { n }));
        }
      }),
    );
    const [reader] = stores;
    for (const id of ["shared", "own 0", "own 1", "own 2"]) {
      const numbers = (await reader?.read(id, -1, 100))?.map(({ n }) => n);
      expect(numbers).to.deep.equal(Array.from({ length: 40 }, (_, n) => n));
    }
    await stores[1]?.dispose?.();
    expect(
      (await reader?.list({ state: "interrupted" }))?.runs.map(({ runId }) => runId),
    ).to.deep.equal(["own 1"]);
    for (const store of stores) await store.dispose?.();
    await empty();
  });

  it("adds its tables to the schema of an earlier version", async () => {
    await onServer(
      `drop schema "${SCHEMA}" cascade`,
      `create schema "${SCHEMA}"`,
      `create table "${SCHEMA}".migrations (version int primary key, applied_at timestamptz not null default now())`,
      `insert into "${SCHEMA}".migrations (version) values (1)`,
    );
    const other = open();
    await other.put(summaryOf("b"));
    expect(await idsIn(other)).to.deep.equal(["b"]);
    await other.dispose?.();
    await empty();
  });

  it("names a database that does not answer, without its password", async () => {
    const store = RunStore.sql({ url: "postgres://user:secret@127.0.0.1:1/none" });
    const error = await rejectionOf(RunStoreError, Promise.resolve(store.list({})));
    expect(error.message).to.contain("127.0.0.1").and.to.not.contain("secret");
    await store.dispose?.();
  });
});
