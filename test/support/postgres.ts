import { Client } from "pg";
import type { Context } from "mocha";
import { allCases } from "./all-cases.js";

/** The server of this machine that the tests may use: PostgreSQL without the extension pgvector. */
export const POSTGRES_URL =
  process.env["AGENTENSEMBLE_TEST_POSTGRES"] ?? "postgres://postgres@127.0.0.1:5432/test";

/** Runs statements in a separate session. */
export async function onServer(
  ...statements: readonly string[]
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new Client({ connectionString: POSTGRES_URL, connectionTimeoutMillis: 2_000 });
  await client.connect();
  try {
    let rows: readonly Readonly<Record<string, unknown>>[] = [];
    for (const statement of statements)
      ({ rows } = await client.query<Readonly<Record<string, unknown>>>(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** Skips the following tests if no server answers. */
export async function needPostgres(test: Context): Promise<void> {
  try {
    await onServer("select 1");
  } catch (error) {
    console.log(`      skipped: no PostgreSQL at ${new URL(POSTGRES_URL).host} (${String(error)})`);
    test.skip();
  }
}

/** Whether the cases on PGlite run: those on a server, if one answers, run the same statements. */
export async function testsPglite(): Promise<boolean> {
  if (allCases) return true;
  return onServer("select 1").then(
    () => false,
    () => true,
  );
}

/**
 * Returns the name of a schema for the tests of this suite, which are skipped if no server answers.
 * The schema is removed after them.
 */
export function suiteSchema(name: string): string {
  const schema = `${name}_${process.pid}`;
  before(function () {
    return needPostgres(this);
  });
  after(() => onServer(`drop schema if exists "${schema}" cascade`).catch(() => undefined)); // no server
  return schema;
}

/** Removes the tables of a store. */
export async function dropTables(...tables: readonly string[]): Promise<void> {
  await onServer(...tables.map((table) => `drop table if exists "${table}", "${table}_scopes"`));
}
