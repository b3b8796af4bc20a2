/**
 * The SQL statements of one table. All columns are read as texts, which every client returns in the
 * same form.
 */
export interface Statements {
  readonly columns: string;
  readonly store: string;
  readonly storeFirst: string;
  readonly storeNext: string;
  readonly latest: string;
  readonly nearest: string;
  readonly all: string;
  readonly remove: string;
  readonly clear: string;
}

/**
 * The row lock on the scope serialises its writers. Ids and versions therefore rise in the order in
 * which entries become visible.
 */
const writing = (table: string, counting: string, vectors: boolean): string => `
  with counted as (${counting} returning version)
  insert into ${table} (scope, entry${vectors ? ", embedding" : ""})
  select $1, $2::json${vectors ? ", $3::vector" : ""} from counted
  returning id::text`;

/**
 * Reads entries and version in one snapshot. The row with the version exists even if there are no
 * entries.
 */
const reading = (scopes: string, entries: string): string => `
  select coalesce(counter.version, 0)::text as version, found.id::text, found.entry, (1 - found.distance)::text as score
  from (select (select version from ${scopes} where scope = $1) as version) as counter
  left join lateral (${entries}) as found on true
  order by found.distance, found.id desc`;

const removing = (table: string, scopes: string, which: string): string => `
  with counted as (
    update ${scopes} set version = version + 1 where scope = $1 and exists (select from ${table} where ${which}) returning version
  )
  delete from ${table} where ${which} and exists (select from counted)`;

/** `name` was validated: lower-case letters, digits and `_`. */
export function statementsOf(name: string, vectors: boolean): Statements {
  const table = `"${name}"`;
  const scopes = `"${name}_scopes"`;
  const begin = `insert into ${scopes} (scope, version) values ($1, 1) on conflict (scope)`;
  return {
    columns: `
      select attname::text as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    store: writing(table, `${begin} do update set version = ${scopes}.version + 1`, vectors),
    storeFirst: writing(table, `${begin} do nothing`, vectors),
    storeNext: writing(
      table,
      `update ${scopes} set version = version + 1 where scope = $1 and version = $${vectors ? 4 : 3}::bigint`,
      vectors,
    ),
    latest: reading(
      scopes,
      `select id, entry::text, null::float8 as distance from ${table} where scope = $1 order by id desc limit $2::bigint`,
    ),
    nearest: reading(
      scopes,
      `select id, entry::text, embedding <=> $3::vector as distance from ${table} where scope = $1 order by distance, id desc limit $2::bigint`,
    ),
    all: `select id::text, entry::text from ${table} where scope = $1 order by ${table}.id`,
    remove: removing(table, scopes, "scope = $1 and id = any($2::bigint[])"),
    clear: removing(table, scopes, "scope = $1"),
  };
}

/**
 * Creates the tables. Only one process at a time may run it: two concurrent creations would
 * conflict.
 */
export function migration(name: string, dimensions: number | undefined): string {
  return `
    select pg_advisory_xact_lock(hashtextextended('agentensemble/migrate', 0));
    ${dimensions === undefined ? "" : "create extension if not exists vector;"}
    create table if not exists "${name}" (
      id bigint generated always as identity primary key,
      scope text not null,
      entry json not null${dimensions === undefined ? "" : `,\n      embedding vector(${dimensions}) not null`}
    );
    create index if not exists "${name}_scope" on "${name}" (scope, id);
    create table if not exists "${name}_scopes" (scope text primary key, version bigint not null);`;
}
