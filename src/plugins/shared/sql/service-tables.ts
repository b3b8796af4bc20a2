/**
 * The tables of services. `requests.due` depends on the state:
 * - queued: the end of the delay
 * - leased: the end of the lease
 * - done: the expiry of the id
 * - dead: the time of the failure
 *
 * Done requests have no content. Functions make a count and a change atomic. Each statement of a
 * function reads the data committed before it. An earlier statement can therefore lock rows for the
 * later ones.
 */
export function serviceTables(schema: string): string {
  return `
  create table ${schema}.requests (
    queue text collate "C" not null,
    id text collate "C" not null,
    n bigint generated always as identity,
    state text not null,
    place timestamptz not null,
    accepted_at timestamptz not null,
    rank_ms float8 not null,
    attempt int not null default 0,
    token text,
    due timestamptz,
    fingerprint text not null,
    content text not null,
    reason text,
    primary key (queue, id)
  );
  create index requests_open on ${schema}.requests (queue, place, n) where state in ('QUEUED', 'LEASED');
  create index requests_dead on ${schema}.requests (queue, due, n) where state = 'DEAD';
  create index requests_done on ${schema}.requests (due) where state = 'DONE';
  create table ${schema}.results (
    id text collate "C" primary key,
    response text not null,
    until timestamptz not null
  );
  create index results_until on ${schema}.results (until);
  create table ${schema}.catalogue (
    ensemble text collate "C" not null,
    instance text collate "C" not null,
    entry text not null,
    until timestamptz not null,
    primary key (ensemble, instance)
  );
  ${acceptRequest(schema)}
  ${limitTables(schema)}`;
}

/** The function returns ACCEPTED, DUPLICATE, CONFLICT or FULL. `most` is null for no limit. */
function acceptRequest(schema: string): string {
  return `
  create function ${schema}.accept_request(
    to_queue text, request_id text, hash text, rank float8, most float8, body text
  ) returns text language plpgsql as $function$
  declare
    known text;
    waiting bigint;
  begin
    if most is not null then
      perform pg_advisory_xact_lock(hashtextextended('agentensemble/queue/${schema}/' || to_queue, 0));
    end if;
    loop
      delete from ${schema}.requests as r
        where r.queue = to_queue and r.id = request_id and r.state = 'DONE' and r.due <= clock_timestamp();
      select r.fingerprint into known from ${schema}.requests as r where r.queue = to_queue and r.id = request_id;
      if found then
        return case when known = hash then 'DUPLICATE' else 'CONFLICT' end;
      end if;
      if most is not null then
        select count(*) into waiting from ${schema}.requests as r
          where r.queue = to_queue and (r.state = 'QUEUED' or (r.state = 'LEASED' and r.due <= clock_timestamp()));
        if waiting >= most then
          return 'FULL';
        end if;
      end if;
      insert into ${schema}.requests as r (queue, id, state, place, accepted_at, rank_ms, fingerprint, content)
        values (to_queue, request_id, 'QUEUED', clock_timestamp() + rank * interval '1 ms', clock_timestamp(), rank, hash, body)
        on conflict do nothing;
      if found then
        return 'ACCEPTED';
      end if;
    end loop;
  end $function$;`;
}

/**
 * The tables of rate limits and budgets. A row of `rate_calls` is a call in one window. The call
 * reserves a place, begins, and ends. `until` is the end of its reservation if its process sends no
 * heartbeat.
 */
function limitTables(schema: string): string {
  return `
  create table ${schema}.rate_calls (
    window_key text collate "C" not null,
    turn text not null,
    tokens float8 not null,
    until timestamptz not null,
    started_at timestamptz,
    ended_at timestamptz,
    used float8 not null default 0,
    primary key (window_key, turn)
  );
  create index rate_calls_started on ${schema}.rate_calls (window_key, started_at) where started_at is not null;
  create table ${schema}.budgets (
    account text collate "C" primary key,
    tokens float8 not null,
    cost float8 not null,
    updated_at timestamptz not null default clock_timestamp()
  );
  create table ${schema}.reservations (
    id text collate "C" primary key,
    account text collate "C" not null,
    tokens float8 not null,
    cost float8 not null,
    until timestamptz not null
  );
  create index reservations_account on ${schema}.reservations (account);
  ${takeTurn(schema)}
  ${windowWait(schema)}
  ${reserveAmount(schema)}
  ${settleAmount(schema)}`;
}

/**
 * Reserves a place in all windows, or in none. Returns one row for each window without a place. Its
 * values are milliseconds, or null if they depend on calls in progress. Windows are locked in the
 * order of their names, so two calls never wait for each other.
 */
function takeTurn(schema: string): string {
  return `
  create function ${schema}.take_turn(
    keys text[], starts float8[], periods float8[], most_tokens float8[], estimate float8, turn_id text, hold_ms float8
  ) returns table (open_ms float8, least_ms float8) language plpgsql as $function$
  declare
    waits float8[] := '{}';
    leasts float8[] := '{}';
    is_open boolean := true;
    one record;
  begin
    perform pg_advisory_xact_lock(lock_id) from (
      select hashtextextended('agentensemble/window/${schema}/' || k, 0) as lock_id from unnest(keys) as k order by 1
    ) as locks;
    for i in 1 .. cardinality(keys) loop
      delete from ${schema}.rate_calls as c where c.window_key = keys[i] and (
        (c.started_at is null and c.until <= clock_timestamp()) or (
          greatest(c.started_at, c.ended_at) <= clock_timestamp() - periods[i] * interval '1 ms'
          and (c.ended_at is not null or c.until <= clock_timestamp())
        )
      );
      select * into one from ${schema}.window_wait(keys[i], starts[i], periods[i], most_tokens[i]);
      waits := waits || one.opens;
      leasts := leasts || one.opens_at_best;
      is_open := is_open and one.opens = 0;
    end loop;
    if is_open then
      insert into ${schema}.rate_calls (window_key, turn, tokens, until)
        select distinct k, turn_id, estimate, clock_timestamp() + hold_ms * interval '1 ms' from unnest(keys) as k;
      return;
    end if;
    return query select nullif(w, 'infinity'::float8), nullif(l, 'infinity'::float8) from unnest(waits, leasts) as t (w, l);
  end $function$;`;
}

/**
 * Returns the wait of a call in a window in milliseconds. Infinity if it depends on calls in
 * progress.
 */
function windowWait(schema: string): string {
  return `
  create function ${schema}.window_wait(
    key text, starts float8, period float8, most float8, out opens float8, out opens_at_best float8
  ) language plpgsql as $function$
  declare
    held float8;
    reserved float8;
    spent float8;
  begin
    select count(*) filter (where c.started_at is null), coalesce(sum(c.tokens) filter (where c.ended_at is null and c.until > clock_timestamp()), 0),
      coalesce(sum(c.used) filter (where c.ended_at > clock_timestamp() - period * interval '1 ms'), 0)
      into held, reserved, spent from ${schema}.rate_calls as c where c.window_key = key;
    opens := greatest(
      case when starts - held <= 0 then 'infinity' else ${schema}.start_wait(key, starts - held, period) end,
      ${schema}.token_wait(key, most - reserved, spent, period)
    );
    opens_at_best := greatest(${schema}.start_wait(key, starts, period), ${schema}.token_wait(key, most, spent, period));
  end $function$;

  create function ${schema}.start_wait(key text, places float8, period float8) returns float8 language sql as $function$
    select coalesce((
      select greatest(0, period + 2 - extract(epoch from clock_timestamp() - c.started_at)::float8 * 1000)
      from ${schema}.rate_calls as c where c.window_key = key and c.started_at is not null
      order by c.started_at desc offset greatest(0, places - 1)::bigint limit 1
    ), 0) $function$;

  create function ${schema}.token_wait(key text, most float8, spent float8, period float8) returns float8 language sql as $function$
    select case when most is null or spent < most then 0 else coalesce((
      select min(freed.wait_ms) from (
        select greatest(0, period + 2 - extract(epoch from clock_timestamp() - c.ended_at)::float8 * 1000) as wait_ms,
          spent - sum(c.used) over (order by c.ended_at, c.turn) as left_over
        from ${schema}.rate_calls as c
        where c.window_key = key and c.used > 0 and c.ended_at > clock_timestamp() - period * interval '1 ms'
      ) as freed where freed.left_over < most
    ), 'infinity') end $function$;`;
}

/**
 * Reserves an amount if it fits. Returns whether it fits, and the state of the account. The account
 * must exist.
 */
function reserveAmount(schema: string): string {
  return `
  create function ${schema}.account_state(
    name text, out used_tokens float8, out used_cost float8, out held_tokens float8, out held_cost float8
  ) language sql as $function$
    select b.tokens, b.cost, coalesce(sum(r.tokens), 0), coalesce(sum(r.cost), 0)
    from ${schema}.budgets as b
    left join ${schema}.reservations as r on r.account = b.account and r.until > clock_timestamp()
    where b.account = name group by b.account $function$;

  create function ${schema}.reserve_amount(
    name text, reservation text, more_tokens float8, more_cost float8, most_tokens float8, most_cost float8, lease_ms float8,
    out fits boolean, out used_tokens float8, out used_cost float8, out held_tokens float8, out held_cost float8
  ) language plpgsql as $function$
  begin
    perform from ${schema}.budgets as b where b.account = name for update;
    select s.* into used_tokens, used_cost, held_tokens, held_cost from ${schema}.account_state(name) as s;
    fits := (most_tokens is null or used_tokens + held_tokens + more_tokens <= most_tokens)
      and (most_cost is null or used_cost + held_cost + more_cost <= most_cost);
    if fits then
      insert into ${schema}.reservations (id, account, tokens, cost, until)
        values (reservation, name, more_tokens, more_cost, clock_timestamp() + lease_ms * interval '1 ms')
        on conflict do nothing;
      select s.* into used_tokens, used_cost, held_tokens, held_cost from ${schema}.account_state(name) as s;
    end if;
  end $function$;`;
}

/** Counts the usage of a reservation and removes the reservation, so the usage is counted once. */
function settleAmount(schema: string): string {
  return `
  create function ${schema}.settle_amount(
    name text, reservation text, used_more float8, cost_more float8,
    out used_tokens float8, out used_cost float8, out held_tokens float8, out held_cost float8
  ) language plpgsql as $function$
  begin
    perform from ${schema}.budgets as b where b.account = name for update;
    delete from ${schema}.reservations as r where r.id = reservation;
    if found then
      update ${schema}.budgets as b set tokens = b.tokens + used_more, cost = b.cost + cost_more, updated_at = clock_timestamp()
        where b.account = name;
    end if;
    select s.* into used_tokens, used_cost, held_tokens, held_cost from ${schema}.account_state(name) as s;
  end $function$;`;
}
