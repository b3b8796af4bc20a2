import type { Journal } from "../../../../src/contracts/journal.js";
import { PgliteDatabase } from "../../../../src/plugins/shared/sql/pglite-database.js";
import {
  SqlJournal,
  openSqlJournal,
} from "../../../../src/plugins/durability/shared/sql/sql-journal.js";
import { onServer, POSTGRES_URL } from "../../../support/postgres.js";
import { sharedPglite } from "../../../support/shared-pglite.js";

/** Journals that the tests of a file open, each test in a separate schema. */
export interface OpenJournals {
  /** The name of an empty schema. */
  schema(): string;
  open(schema: string): Journal;
  /** Closes the journals that were opened since the last call, and empties their schemas. */
  closeAll(): Promise<void>;
  /** Removes the schemas, and closes the shared connections. */
  end(): Promise<void>;
}

type Run = (...statements: readonly string[]) => Promise<unknown>;

let files = 0;

/** Schemas are reused, since their creation takes longer than most tests. */
function openJournals(make: (schema: string) => Journal, run: Run): OpenJournals {
  const prefix = `ae_test_${process.pid}_${++files}`;
  const journals: Journal[] = [];
  const used: string[] = [];
  const empty: string[] = [];
  let count = 0;
  return {
    schema: () => {
      const name = empty.pop() ?? `${prefix}_${++count}`;
      used.push(name);
      return name;
    },
    open: (schema) => {
      const journal = make(schema);
      journals.push(journal);
      return journal;
    },
    closeAll: async () => {
      await Promise.all(journals.splice(0).map((journal) => journal.close()));
      const names = used.splice(0);
      await run(...names.map(emptying));
      empty.push(...names);
    },
    end: async () => {
      await run(...[...used, ...empty].map((name) => `drop schema if exists "${name}" cascade`));
    },
  };
}

/** Empties the tables of a schema, if they exist. */
function emptying(name: string): string {
  const tables = ["runs", "leases", "journal", "reviews"];
  const statements = tables.map((table) => `delete from "${name}".${table};`).join(" ");
  return `do $$ begin if to_regclass('"${name}".migrations') is not null then ${statements} end if; end $$`;
}

/** On the server that `needPostgres` has found. */
export function journalsOnPostgres(url = POSTGRES_URL): OpenJournals {
  return openJournals((schema) => openSqlJournal({ url, schema }), onServer);
}

/** In one PGlite in memory, since starting takes seconds. */
export function journalsOnPglite(): OpenJournals {
  const database = new PgliteDatabase(undefined, false);
  const shared = sharedPglite(database);
  const settings = { patienceMs: 30_000, store: "pglite:memory" };
  const journals = openJournals(
    (schema) => new SqlJournal(shared, schema, settings),
    async (...statements) => {
      for (const statement of statements) await database.query(statement, []);
    },
  );
  return { ...journals, end: () => database.close() };
}
