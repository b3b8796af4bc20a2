import { randomUUID } from "node:crypto";
import { postgres } from "agentensemble/network/postgres";
import { Pool } from "pg";
import {
  AT_ONCE,
  backendFigures,
  CONSUMERS,
  figuresOf,
  REQUESTS,
  TEXT,
  type RequestFigures,
} from "./requests.js";

const URL = process.env["AGENTENSEMBLE_TEST_POSTGRES"] ?? "postgres://postgres@127.0.0.1:5432/test";

/** Measures in a new schema, and removes the schema. Returns `undefined` without PostgreSQL. */
async function inPostgres(
  measure: (pool: Pool, schema: string) => Promise<RequestFigures>,
): Promise<RequestFigures | undefined> {
  const pool = new Pool({ connectionString: URL, max: CONSUMERS });
  const schema = `bench_${randomUUID().replaceAll("-", "")}`;
  try {
    await pool.query("select 1");
  } catch {
    process.stderr.write("no PostgreSQL answers: its rows are left out\n");
    await pool.end();
    return undefined;
  }
  try {
    return await measure(pool, schema);
  } finally {
    await pool.query(`drop schema if exists ${schema} cascade`);
    await pool.end();
  }
}

/** Returns the figures of the adapter. */
export function postgresFigures(): Promise<RequestFigures | undefined> {
  return inPostgres((_, schema) => backendFigures(postgres({ url: URL, schema })));
}

/**
 * Returns the figures of the client of PostgreSQL with the minimum of statements. They accept ids
 * once, lease a row, keep the first result, and end the row.
 */
export function barePostgresFigures(): Promise<RequestFigures | undefined> {
  return inPostgres(async (pool, schema) => {
    await pool.query(
      `create schema ${schema};
       create table ${schema}.jobs (id text primary key, body text, state text not null default 'queued', token text, n bigserial);
       create index on ${schema}.jobs (n) where state = 'queued';
       create table ${schema}.results (id text primary key, body text)`,
    );
    const accept = async (): Promise<void> => {
      for (let n = 0; n < REQUESTS; n += AT_ONCE)
        await Promise.all(
          Array.from({ length: AT_ONCE }, (_, i) =>
            pool.query(
              `insert into ${schema}.jobs (id, body) values ($1, $2) on conflict do nothing`,
              [`r${n + i}`, '{"context":"x"}'],
            ),
          ),
        );
    };
    const consume = async (): Promise<number> => {
      for (let count = 0; ; count++) {
        const token = randomUUID();
        const { rows } = await pool.query<{ id: string }>(
          `update ${schema}.jobs set state = 'leased', token = $1 where id = (select id from ${schema}.jobs
            where state = 'queued' order by n for update skip locked limit 1) returning id`,
          [token],
        );
        const id = rows[0]?.id;
        if (id === undefined) return count;
        await pool.query(`insert into ${schema}.results values ($1, $2) on conflict do nothing`, [
          id,
          TEXT,
        ]);
        await pool.query(
          `update ${schema}.jobs set state = 'done', body = null where id = $1 and token = $2`,
          [id, token],
        );
      }
    };
    return figuresOf(accept, consume);
  });
}
