export type QueueStatements = ReturnType<typeof queueStatements>;

/** A queued request, or a request whose lease has expired. */
const QUEUED = "(state = 'QUEUED' or (state = 'LEASED' and due <= clock_timestamp()))";
const HELD =
  "queue = $1 and id = $2 and token = $3 and state = 'LEASED' and due > clock_timestamp()";
const inMs = (place: string): string => `clock_timestamp() + ${place}::float8 * interval '1 ms'`;
const sinceMs = (column: string): string =>
  `(extract(epoch from clock_timestamp() - ${column}) * 1000)::text`;

/**
 * Returns the statements of a queue. `name` is the schema, which the caller has checked. All
 * columns are read as texts.
 */
// eslint-disable-next-line @typescript-eslint/explicit-module-boundary-types -- the names of the statements are its type
export function queueStatements(name: string) {
  const s = `"${name}"`;
  const table = `${s}.requests`;
  return {
    accept: `select ${s}.accept_request($1, $2, $3, $4::float8, nullif($5, '')::float8, $6) as status`,
    /**
     * Returns one row: the request, or the milliseconds until the next request is due. The
     * milliseconds are null if none is due.
     */
    take: `
      with picked as materialized (
        select id from ${table}
        where queue = $1 and state in ('QUEUED', 'LEASED') and (due is null or due <= clock_timestamp())
        order by place, n limit 1 for update skip locked
      ), taken as (
        update ${table} as r set state = 'LEASED', token = $2, due = ${inMs("$3")}, attempt = r.attempt + 1
        from picked where r.queue = $1 and r.id = picked.id
        returning r.attempt, r.content, r.accepted_at
      )
      select attempt::text, content, ${sinceMs("accepted_at")} as waited_ms, null as next_ms from taken
      union all
      select null, null, null, (
        select (extract(epoch from min(due) - clock_timestamp()) * 1000)::text from ${table}
        where queue = $1 and state in ('QUEUED', 'LEASED') and due is not null
      ) where not exists (select from taken)`,
    extend: `update ${table} set due = ${inMs("$4")} where ${HELD} returning id`,
    /** Removes the content. */
    acknowledge: `update ${table} set state = 'DONE', content = '', token = null, due = ${inMs("$4")} where ${HELD} returning id`,
    release: `
      update ${table} set state = 'QUEUED', token = null, attempt = attempt - $5::int,
        due = case when $4::float8 = 0 then null else ${inMs("$4")} end
      where ${HELD} returning id`,
    /** Returns requests that were leased with these tokens, but that no consumer received. */
    recover: `
      update ${table} set state = 'QUEUED', token = null, attempt = attempt - 1, due = null
      where queue = $1 and state = 'LEASED' and token = any($2::text[]) returning id`,
    bury: `update ${table} set state = 'DEAD', token = null, due = clock_timestamp(), reason = $4 where ${HELD} returning id`,
    dead: `select content, reason from ${table} where queue = $1 and state = 'DEAD' order by due, n`,
    redrive: `
      update ${table} set state = 'QUEUED', attempt = 0, due = null, reason = null,
        accepted_at = clock_timestamp(), place = clock_timestamp() + rank_ms * interval '1 ms'
      where queue = $1 and id = $2 and state = 'DEAD' returning id`,
    status: `
      select case when ${QUEUED} then 'QUEUED' else state end as state from ${table}
      where queue = $1 and id = $2 and not (state = 'DONE' and due <= clock_timestamp())`,
    depth: `
      select count(*) filter (where ${QUEUED})::text as queued,
        count(*) filter (where state = 'LEASED' and due > clock_timestamp())::text as leased,
        coalesce((extract(epoch from clock_timestamp() - min(accepted_at) filter (where ${QUEUED})) * 1000)::text, '0') as oldest,
        (select count(*) from ${table} where queue = $1 and state = 'DEAD')::text as dead
      from ${table} where queue = $1 and state in ('QUEUED', 'LEASED')`,
  };
}
