import type { NetworkBackend } from "../../../../src/contracts/network.js";
import { PostgresDatabase } from "../../../../src/plugins/shared/sql/postgres-database.js";
import {
  sqlBackend,
  type SqlBackendSettings,
} from "../../../../src/plugins/network/postgres/sql-backend.js";
import { localSettings } from "../../../../src/plugins/network/shared/local-options.js";
import { PgliteDatabase } from "../../../../src/plugins/shared/sql/pglite-database.js";
import { onServer, POSTGRES_URL } from "../../../support/postgres.js";
import { sharedPglite } from "../../../support/shared-pglite.js";

/** Backends that the tests of a file open, one test after the other, in one schema. */
export interface OpenBackends {
  readonly schema: string;
  open(options?: { readonly agingMs?: number }): NetworkBackend;
  /** Closes the backends that were opened since the last call, and empties the schema. */
  closeAll(): Promise<void>;
  /** Removes the schema, and closes the shared connections. */
  end(): Promise<void>;
}

const TABLES = [
  ...["requests", "results", "catalogue", "rate_calls", "budgets", "reservations"],
  ...["runs", "leases", "journal", "reviews"],
];

let files = 0;

function openBackends(
  make: (schema: string, options: { readonly agingMs?: number }) => NetworkBackend,
  run: (statement: string) => Promise<unknown>,
): OpenBackends {
  const schema = `ae_net_${process.pid}_${++files}`;
  const backends: NetworkBackend[] = [];
  const emptying = TABLES.map((table) => `delete from "${schema}".${table};`).join(" ");
  return {
    schema,
    open: (options = {}) => {
      const backend = make(schema, options);
      backends.push(backend);
      return backend;
    },
    closeAll: async () => {
      await Promise.all(backends.splice(0).map((backend) => backend.close()));
      await run(
        `do $$ begin if to_regclass('"${schema}".migrations') is not null then ${emptying} end if; end $$`,
      );
    },
    end: async () => {
      await run(`drop schema if exists "${schema}" cascade`);
    },
  };
}

/** Short leases of budgets, so that the tests of their end are short. */
function settingsOf(options: { readonly agingMs?: number }): SqlBackendSettings {
  const { rules } = localSettings("postgres()", options);
  return { rules, patienceMs: 9_000, budgetLeaseMs: 500 };
}

/** On the server that `needPostgres` has found. */
export function backendsOnPostgres(): OpenBackends {
  return openBackends(
    (schema, options) =>
      sqlBackend(
        "postgres",
        new PostgresDatabase(POSTGRES_URL, 9_000),
        schema,
        settingsOf(options),
      ),
    onServer,
  );
}

/** In one PGlite in memory, since starting takes seconds. */
export function backendsOnPglite(): OpenBackends {
  const database = new PgliteDatabase(undefined, false);
  const backends = openBackends(
    (schema, options) => sqlBackend("pglite", sharedPglite(database), schema, settingsOf(options)),
    (statement) => database.query(statement, []),
  );
  return { ...backends, end: () => database.close() };
}
