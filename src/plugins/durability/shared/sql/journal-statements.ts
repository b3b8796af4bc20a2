/** Formats an instant as ISO 8601. */
export const isoText = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const ENTRY_COLUMNS = "key, full_key, kind, task, hash, covers, value, execution, at";

/** Maximum stored bytes of one page of entries. The first entry of a page is read at any size. */
const PAGE_BYTES = 4_194_304;
const PAGE_ROWS = 10_000;

/** The waiting entries of all runs, with one list for each column. */
const GIVEN = `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
  with ordinality as given (run_id, epoch, key, full_key, kind, task, hash, covers, value, execution, place)`;

const GIVEN_ENTRY = `given.key, nullif(given.full_key, ''), given.kind, given.task, nullif(given.hash, ''), given.covers::boolean,
  given.value, given.execution::int, clock_timestamp()`;

/** The assignments that replace the version of a key. */
const REPLACED = `kind = excluded.kind, task = excluded.task, hash = excluded.hash, covers = excluded.covers, value = excluded.value,
  execution = excluded.execution, at = excluded.at, n = default`;

/** Fragments that several statements share. `schema` is quoted. */
class Parts {
  readonly schema: string;
  readonly epoch: string;
  readonly isFree = "(lease.owner is null or lease.lease_until <= clock_timestamp())";

  constructor(name: string) {
    this.schema = `"${name}"`;
    this.epoch = `nextval('${this.schema}.epochs')`;
  }

  until(ms: string): string {
    return `clock_timestamp() + ${ms}::float8 * interval '1 ms'`;
  }

  /**
   * Locks the lease of a run that no process executes. A process that died, or paused for longer
   * than its lease, can't write afterwards.
   */
  fence(): string {
    return `update ${this.schema}.leases as lease set epoch = ${this.epoch}, owner = null, claimant = null, lease_until = '-infinity'
      where run_id = $1 and ${this.isFree} returning run_id, epoch`;
  }

  record(status: string, updatedAt: string, owner: string): string {
    const s = this.schema;
    return `
      select run.run_id, run.n::text, ensemble, inputs, inputs_hash, array_to_json(tags)::text as tags, parent_run_id,
        ${status} as status, ${isoText("started_at")} as started_at, ${isoText(updatedAt)} as updated_at, executions::text, fruitless::text,
        case when ${status} <> 'running' then waits_for end as waits_for, cancel_reason,
        case when ${status} <> 'running' then result end as result, ${owner} as owner,
        (select count(*) from ${s}.journal as done where done.run_id = run.run_id and done.kind = 'task')::text as finished
      from ${s}.runs as run left join ${s}.leases as lease on lease.run_id = run.run_id`;
  }
}

/**
 * Returns the statement for a claim. The rows of the run and of its lease may be missing. Both are
 * read after the locks are acquired. An attempt that is repeated after a lost answer finds its own
 * claim.
 */
function claimStatement({ schema: s, epoch, isFree, until }: Parts): string {
  return `
    with taken as (
      insert into ${s}.leases as lease (run_id, epoch, owner, claimant, lease_ms, lease_until)
      values ($1, ${epoch}, $2, $3, $4::float8, ${until("$4")})
      on conflict (run_id) do update set
        epoch = ${epoch}, owner = excluded.owner, claimant = excluded.claimant, lease_ms = excluded.lease_ms, lease_until = ${until("excluded.lease_ms")}
        where ${isFree}
      returning run_id, epoch
    ), kept as (
      insert into ${s}.runs as run (run_id, ensemble, inputs, inputs_hash, tags, parent_run_id, status, executions)
      select run_id, $5, $6, $7, $8::text[], nullif($9, ''), 'running', 1 from taken
      on conflict (run_id) do update set
        status_before = run.status, updated_before = run.updated_at, status = 'running', updated_at = clock_timestamp(),
        executions = run.executions + 1,
        started_at = case when run.executions = 0 then clock_timestamp() else run.started_at end,
        cancel_reason = case when run.status <> 'cancelled' then run.cancel_reason end,
        waits_for = case when run.status <> 'running' then run.waits_for end,
        result = case when run.status <> 'running' then run.result end,
        fruitless = case
          when run.status = 'running' and not exists (
            select from ${s}.journal as written where written.run_id = run.run_id and written.execution = run.executions
          ) then run.fruitless + 1
          else 0
        end
    )
    select epoch::text from taken
    union all
    select epoch::text from ${s}.leases where run_id = $1 and claimant = $3
    limit 1`;
}

/** Claims and leases. */
function leaseStatements(parts: Parts) {
  const { schema: s, epoch } = parts;
  const isRequested = "$3 in ('waiting', 'interrupted') and cancel_reason is not null";
  return {
    claim: claimStatement(parts),
    /** The state of a run before its claim. */
    claimed: `
      ${parts.record("coalesce(status_before, status)", "coalesce(updated_before, updated_at)", "null")}
      where run.run_id = $1 and lease.epoch = $2::bigint`,
    holder: `
      select owner, extract(epoch from lease_until)::text as until,
        greatest(0, extract(epoch from lease_until - clock_timestamp()) * 1000)::text as left_ms
      from ${s}.leases where run_id = $1 and owner is not null`,
    renew: `
      with held as (
        update ${s}.leases set lease_until = ${parts.until("lease_ms")}
        where run_id = $1 and epoch = $2::bigint and owner is not null returning run_id
      )
      select run.cancel_reason from ${s}.runs as run join held using (run_id)`,
    release: `
      with held as (
        update ${s}.leases set epoch = ${epoch}, owner = null, claimant = null, lease_until = '-infinity'
        where run_id = $1 and epoch = $2::bigint and owner is not null returning run_id
      )
      update ${s}.runs as run set
        status = case when ${isRequested} then 'cancelled' else $3 end,
        waits_for = case when not (${isRequested}) then nullif($4, '') end, result = nullif($5, ''),
        cancel_reason = case when $3 = 'cancelled' or ${isRequested} then cancel_reason end, fruitless = 0, updated_at = clock_timestamp()
      from held where run.run_id = held.run_id`,
    fence: `with free as (${parts.fence()}) select epoch::text from free`,
  };
}

/** Statements for entries of claimed runs, and for reading them. */
function entryStatements({ schema: s }: Parts) {
  const held = `held as (select run_id, epoch from ${s}.leases where run_id = any($1::text[]) for share)`;
  const page = (condition: string): string => `
    select key, full_key, kind, task, hash, covers::text, value, execution::text, ${isoText("at")} as at, n::text
    from (
      select *, sum(pg_column_size(value)) over (order by n) - pg_column_size(value) as bytes_before
      from (
        select ${ENTRY_COLUMNS}, n from ${s}.journal as entry
        where run_id = $1 and n > $2::bigint ${condition} order by n limit ${PAGE_ROWS}
      ) as found
    ) as measured
    where bytes_before < ${PAGE_BYTES} order by measured.n`;
  return {
    append: `
      with ${held}, written as (
        insert into ${s}.journal as entry (run_id, ${ENTRY_COLUMNS})
        select given.run_id, ${GIVEN_ENTRY}
        from ${GIVEN} join held on held.run_id = given.run_id and held.epoch = given.epoch::bigint
        order by given.place
        on conflict (run_id, key) do update set ${REPLACED} where entry.kind = 'intent'
      )
      select run_id, epoch::text from held`,
    /** Like `append`, for one entry. The database plans this statement in less time. */
    appendOne: `
      with held as (select run_id, epoch from ${s}.leases where run_id = $1 and epoch = $2::bigint for share), written as (
        insert into ${s}.journal as entry (run_id, ${ENTRY_COLUMNS})
        select run_id, $3, nullif($4, ''), $5, $6, nullif($7, ''), $8::boolean, $9, $10::int, clock_timestamp() from held
        on conflict (run_id, key) do update set ${REPLACED} where entry.kind = 'intent'
      )
      select run_id, epoch::text from held`,
    /** Removes the earlier entries of a task. */
    redo: `
      with ${held}, fresh as (
        select given.* from ${GIVEN} join held on held.run_id = given.run_id and held.epoch = given.epoch::bigint
        where not exists (select from ${s}.journal as known where known.run_id = given.run_id and known.key = given.key)
      ), gone as (
        delete from ${s}.journal as entry using fresh
        where entry.run_id = fresh.run_id and entry.task = fresh.task and entry.kind <> 'redo'
      ), written as (
        insert into ${s}.journal (run_id, ${ENTRY_COLUMNS}) select given.run_id, ${GIVEN_ENTRY} from fresh as given
      )
      select run_id, epoch::text from held`,
    entries: page(""),
    /** Without entries that finished tasks cover. */
    neededEntries: page(`and (
      kind not in ('call', 'tool', 'intent', 'memory') or not exists (
        select from ${s}.journal as done
        where done.run_id = $1 and done.kind = 'task' and left(done.task, 200) = left(entry.task, 200) and done.task = entry.task and done.covers
      )
    )`),
  };
}

/** Statements for runs that no process executes, and for lists of runs. */
function runStatements(parts: Parts) {
  const { schema: s, epoch } = parts;
  const owner = "case when lease.lease_until > clock_timestamp() then lease.owner end";
  const record = parts.record("status", "updated_at", owner);
  return {
    record: `${record} where run.run_id = $1`,
    records: (conditions: readonly string[], limit: number): string =>
      `${record} where ${["true", ...conditions].join(" and ")} order by run.n desc limit ${limit}`,
    create: `
      with made as (
        insert into ${s}.runs (run_id, ensemble, inputs, inputs_hash, tags, parent_run_id, status, executions, waits_for)
        values ($11, $12, $13, $14, $15::text[], nullif($16, ''), 'waiting', 0, $17)
        on conflict (run_id) do nothing returning run_id
      ), leased as (
        insert into ${s}.leases (run_id, epoch, claimant, lease_ms, lease_until)
        select run_id, ${epoch}, $18, 0, '-infinity' from made
      ), written as (
        insert into ${s}.journal (run_id, ${ENTRY_COLUMNS})
        select made.run_id, ${GIVEN_ENTRY} from ${GIVEN} cross join made order by given.place
        on conflict (run_id, key) do nothing
      )
      select 'made' as made from made
      union all
      select 'made' from ${s}.leases where run_id = $11 and claimant = $18`,
    amend: `
      with held as (select run_id from ${s}.leases where run_id = $1 and epoch = $2::bigint for share),
      gone as (
        delete from ${s}.journal as entry using held
        where entry.run_id = held.run_id and $5 = 'redo' and entry.task = $6 and entry.kind <> 'redo'
      ), written as (
        insert into ${s}.journal as entry (run_id, ${ENTRY_COLUMNS})
        select run_id, $3, nullif($4, ''), $5, $6, nullif($7, ''), $8::boolean, $9, greatest(run.executions, 1), clock_timestamp()
        from held join ${s}.runs as run using (run_id)
        on conflict (run_id, key) do update set ${REPLACED}
        returning run_id
      )
      select run_id from written`,
    cancel: `
      with free as (${parts.fence()}), ended as (
        update ${s}.runs as run set status = 'cancelled', cancel_reason = $2, waits_for = null, updated_at = clock_timestamp()
        from free where run.run_id = free.run_id and run.status not in ('completed', 'cancelled') returning run.run_id
      ), asked as (
        update ${s}.runs set cancel_reason = coalesce(cancel_reason, $2)
        where run_id = $1 and status = 'running' and not exists (select from free) returning run_id
      )
      select run_id from ended union all select run_id from asked`,
    delete: `
      with gone as (delete from ${s}.leases where run_id = $1 and epoch = $2::bigint returning run_id),
      entries as (delete from ${s}.journal using gone where journal.run_id = gone.run_id),
      questions as (delete from ${s}.reviews using gone where reviews.run_id = gone.run_id),
      record as (delete from ${s}.runs using gone where runs.run_id = gone.run_id)
      select run_id from gone`,
  };
}

export type JournalStatements = ReturnType<typeof journalStatements>;

/**
 * Returns the statements of a journal. The caller has checked `name`. Each statement is one
 * transaction, so that a lost connection releases its locks. All columns are read as texts.
 *
 * An entry is written only while the row of its lease has the epoch of its claim. The row is locked
 * `for share`, which reads the newest row, not the row of the statement's snapshot. An old epoch
 * therefore writes nothing after a takeover was committed, and a takeover waits for writes in
 * progress. Epochs come from one sequence, because a run that was deleted and created again must
 * not reuse an epoch. The clock of the database measures leases.
 */
// eslint-disable-next-line @typescript-eslint/explicit-module-boundary-types -- the names of the statements are its type
export function journalStatements(name: string) {
  const parts = new Parts(name);
  return { ...leaseStatements(parts), ...entryStatements(parts), ...runStatements(parts) };
}
