/** The statements of a store. All columns of their rows are texts. */
export interface ThreadStatements {
  readonly open: string;
  readonly read: string;
  readonly create: string;
  readonly change: string;
  readonly list: string;
  readonly remove: string;
}

/**
 * Returns the statements. The caller checks `schema`. Each change is one statement and therefore
 * atomic.
 */
export function threadStatements(schema: string): ThreadStatements {
  const threads = `"${schema}".threads`;
  const turns = `"${schema}".turns`;
  // The key includes the version, because a row of a removed turn may have the same number.
  const added = (version: string): string =>
    `added as (insert into ${turns} (thread, n, version, turn)
       select $1::text, t.n::bigint, ${version}, t.turn from unnest($6::text[], $7::text[]) as t(n, turn)
       where exists (select from head))`;
  return {
    open: `select head from ${threads} where id = $1`,
    read: `select turn from ${turns} where thread = $1 and n < $2::bigint order by n desc limit $3::bigint`,
    create: `with head as (insert into ${threads} (id, owner, version, updated_at, head)
        select $1::text, $3::text, 1, $4::text, $5::text where $2::bigint = 0
        on conflict (id) do nothing returning id),
      ${added("1")}
      select id from head`,
    change: `with head as (update ${threads} set version = version + 1, owner = $3::text, updated_at = $4::text, head = $5::text
        where id = $1::text and version = $2::bigint returning id),
      dropped as (delete from ${turns} where thread = $1::text and n >= $8::bigint and exists (select from head)),
      ${added("$2::bigint + 1")}
      select id from head`,
    list: `select head from ${threads}
      where ($1::text = '' or owner = $1::text) and ($2::text = '' or (updated_at, id) < ($2::text, $3::text))
      order by updated_at desc, id desc limit $4::bigint`,
    remove: `with gone as (delete from ${threads} where id = $1::text returning id),
      dropped as (delete from ${turns} where thread = $1::text)
      select id from gone`,
  };
}
