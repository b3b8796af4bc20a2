import type { SqlDatabase } from "./sql-database.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { serviceTables } from "./service-tables.js";
import { databaseReason, sqlState } from "./sql-database.js";

export const DEFAULT_SCHEMA = "agentensemble";

const NO_PRIVILEGE = "42501";

/**
 * Returns a change of the schema. Its version is its position in the list, from 1. A published
 * change is never edited. Corrections are new changes.
 */
type Migration = (schema: string) => string;

/**
 * `schema` is already quoted. Names are compared byte by byte, independently of the database's
 * collation.
 */
const journal: Migration = (schema) => `
  create sequence ${schema}.epochs;
  create table ${schema}.runs (
    run_id text collate "C" primary key,
    n bigint generated always as identity unique,
    ensemble text not null,
    inputs text not null,
    inputs_hash text not null,
    tags text[] not null,
    parent_run_id text,
    status text not null,
    status_before text,
    started_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    updated_before timestamptz,
    executions int not null,
    fruitless int not null default 0,
    waits_for text,
    cancel_reason text,
    result text
  );
  create index runs_status on ${schema}.runs (status, n);
  create index runs_ensemble on ${schema}.runs (ensemble, n);
  create index runs_updated_at on ${schema}.runs (updated_at);
  create index runs_tags on ${schema}.runs using gin (tags);
  create table ${schema}.leases (
    run_id text collate "C" primary key,
    epoch bigint not null,
    owner text,
    claimant text,
    lease_ms float8 not null,
    lease_until timestamptz not null
  );
  create table ${schema}.journal (
    run_id text collate "C" not null,
    key text collate "C" not null,
    n bigint generated always as identity,
    kind text not null,
    task text not null,
    hash text,
    covers boolean not null,
    value text not null,
    execution int not null,
    at timestamptz not null default clock_timestamp(),
    full_key text,
    primary key (run_id, key)
  );
  create index journal_order on ${schema}.journal (run_id, n);
  create index journal_tasks on ${schema}.journal (run_id, left(task, 200)) where kind = 'task';
  create table ${schema}.reviews (
    review_id text collate "C" primary key,
    n bigint generated always as identity,
    run_id text collate "C" not null,
    request text not null,
    deadline timestamptz,
    decision text,
    decided_at timestamptz
  );
  create index reviews_run on ${schema}.reviews (run_id);
  create index reviews_open on ${schema}.reviews (n) where decision is null;`;

/**
 * The runs of the dashboard. They are stored and removed independently of `runs`, which has the
 * resumable runs. `search` is the shown text of a list in lower case. `at_work` means that the
 * process of the run must be alive.
 */
const dashboardRuns: Migration = (schema) => `
  create table ${schema}.summaries (
    run_id text collate "C" primary key,
    ensemble text not null,
    state text not null,
    at_work boolean not null,
    writer text not null,
    started_at timestamptz not null,
    tags text[] not null,
    input_tokens float8 not null,
    output_tokens float8 not null,
    unknown_calls float8 not null,
    calls float8 not null,
    tools float8 not null,
    cost float8 not null,
    currency text not null,
    search text not null,
    summary text not null
  );
  create index summaries_order on ${schema}.summaries (started_at desc, run_id desc);
  create index summaries_ensemble on ${schema}.summaries (ensemble, started_at desc);
  create index summaries_tags on ${schema}.summaries using gin (tags);
  create table ${schema}.events (
    run_id text collate "C" not null,
    n bigint not null,
    entry text not null,
    primary key (run_id, n)
  );
  create table ${schema}.boards (
    writer text primary key,
    seen_at timestamptz not null
  );`;

/** The baselines of ensembles, and the actions of users on the dashboard. */
const dashboardControl: Migration = (schema) => `
  alter table ${schema}.summaries add column baseline boolean not null default false;
  create index summaries_baseline on ${schema}.summaries (ensemble) where baseline;
  create table ${schema}.audit (
    n bigint generated always as identity primary key,
    entry text not null
  );`;

/**
 * The threads of conversations. A removed turn and its replacement have the same `n`, and different
 * versions.
 */
const conversations: Migration = (schema) => `
  create table ${schema}.threads (
    id text collate "C" primary key,
    owner text collate "C" not null,
    version bigint not null,
    updated_at text collate "C" not null,
    head text not null
  );
  create index threads_order on ${schema}.threads (updated_at desc, id desc);
  create index threads_owner on ${schema}.threads (owner, updated_at desc, id desc);
  create table ${schema}.turns (
    thread text collate "C" not null,
    n bigint not null,
    version bigint not null,
    turn text not null,
    primary key (thread, n, version)
  );`;

/** The traces of runs of the dashboard. */
const dashboardTraces: Migration = (schema) => `
  create table ${schema}.traces (
    run_id text collate "C" primary key,
    trace text not null
  );`;

/** All changes of the schema. All parts of the framework share it. */
const MIGRATIONS: readonly Migration[] = [
  journal,
  dashboardRuns,
  dashboardControl,
  serviceTables,
  conversations,
  dashboardTraces,
];

/** The version of the schema that this version of the framework reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The reason why a schema can't be used. `hint` is the advice. */
export class SchemaError extends Error {
  readonly hint: string;
  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = "SchemaError";
    this.hint = hint;
  }
}

/** @throws ValidationError for a name that needs quoting, or that PostgreSQL reserves. */
export function checkSchemaName(what: string, schema: unknown): string {
  if (
    typeof schema !== "string" ||
    !/^[a-z_][a-z0-9_]{0,47}$/.test(schema) ||
    schema.startsWith("pg_")
  )
    throw new ValidationError(
      `${what} schema must be small letters, digits and _, at most 48, no digit first and not pg_ first, got: ${preview(schema)}`,
    );
  return schema;
}

/**
 * Migrates the schema to this version if it is older or missing. Concurrent migrations are
 * serialized. `schema` must be checked.
 * @throws SchemaError for a schema of a later version, and if the role may not create missing
 * objects. Errors of the database are unchanged.
 */
export async function openSchema(database: SqlDatabase, schema: string): Promise<void> {
  const version = await schemaVersion(database, schema);
  if (version > SCHEMA_VERSION)
    throw new SchemaError(
      `the schema ${schema} has version ${version}, and this program reads version ${SCHEMA_VERSION} and older`,
      "Update agentensemble in this program, or use another schema.",
    );
  if (version === SCHEMA_VERSION) return;
  try {
    await database.transaction(migrationScript(schema));
  } catch (cause) {
    throw sqlState(cause) === NO_PRIVILEGE ? mayNotCreate(schema, version, cause) : cause;
  }
}

/**
 * Returns 0 if there is no schema. Reads the catalogue first, because a role may have no access to
 * a schema.
 */
async function schemaVersion(database: SqlDatabase, schema: string): Promise<number> {
  const found = await database.query(
    "select 1::text as found from pg_tables where schemaname = $1 and tablename = 'migrations'",
    [schema],
  );
  if (found.length === 0) return 0;
  try {
    const [row] = await database.query(
      `select coalesce(max(version), 0)::text as version from "${schema}".migrations`,
      [],
    );
    return Number(row?.["version"] ?? 0);
  } catch (cause) {
    throw sqlState(cause) === NO_PRIVILEGE ? mayNotRead(schema, cause) : cause;
  }
}

/**
 * Returns the statements that migrate a schema to this version. Each change is made once, even if
 * several processes run the script concurrently.
 */
function migrationScript(schema: string): string {
  const name = `"${schema}"`;
  const change = (migration: Migration, index: number): string => `
    if not exists (select from ${name}.migrations where version = ${index + 1}) then
      ${migration(name)}
      insert into ${name}.migrations (version) values (${index + 1});
    end if;`;
  return `
    select pg_advisory_xact_lock(hashtextextended('agentensemble/schema/${schema}', 0));
    do $migration$ begin
      if to_regnamespace('${name}') is null then create schema ${name}; end if;
      if to_regclass('${name}.migrations') is null then
        create table ${name}.migrations (version int primary key, applied_at timestamptz not null default now());
      end if;
      ${MIGRATIONS.map(change).join("")}
    end $migration$;`;
}

function mayNotCreate(schema: string, version: number, cause: unknown): SchemaError {
  const missing =
    version === 0
      ? `the tables of the schema ${schema} are not there`
      : `the schema ${schema} has version ${version} and needs version ${SCHEMA_VERSION}`;
  return new SchemaError(
    `${missing}, and this role may not create them: ${databaseReason(cause)}`,
    `Open the store once with a role that may create schemas, for instance by \`agentensemble runs list --store URL\`. ${grants(schema)}`,
    cause,
  );
}

function mayNotRead(schema: string, cause: unknown): SchemaError {
  return new SchemaError(
    `this role may not read the schema ${schema}: ${databaseReason(cause)}`,
    grants(schema),
    cause,
  );
}

/** Returns the grants for a role that may not create objects. */
function grants(schema: string): string {
  return (
    `Then run: grant usage on schema ${schema} to ROLE; ` +
    `grant select, insert, update, delete on all tables in schema ${schema} to ROLE; ` +
    `grant usage on all sequences in schema ${schema} to ROLE;`
  );
}
