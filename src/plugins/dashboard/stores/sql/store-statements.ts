import type { RunQuery } from "../../../../contracts/run-store.js";
import type { SqlValue } from "../../../shared/sql/sql-database.js";
import { tagColumn, toColumn } from "../../../shared/sql/sql-text.js";

/** Time without a heartbeat after which a process counts as ended. */
const SILENT = "interval '60 seconds'";

/** The columns of `summaries`, in the order of the values of `put`. */
const COLUMNS = [
  "run_id",
  "ensemble",
  "state",
  "at_work",
  "writer",
  "started_at",
  "tags",
  "input_tokens",
  "output_tokens",
  "unknown_calls",
  "calls",
  "tools",
  "cost",
  "currency",
  "search",
  "baseline",
  "summary",
];
const CASTS: Readonly<Record<string, string>> = {
  at_work: "::boolean",
  started_at: "::timestamptz",
  tags: "::text[]",
  input_tokens: "::float8",
  output_tokens: "::float8",
  unknown_calls: "::float8",
  calls: "::float8",
  tools: "::float8",
  cost: "::float8",
  baseline: "::boolean",
};

/** A condition with its value. The function receives the position of the value. */
type Condition = readonly [make: (place: string) => string, value: SqlValue | undefined];

/** The conditions of a query, and their values from position 1 on. */
export interface QueryConditions {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/**
 * Returns the conditions for matching runs, without those of the page. The caller has checked
 * `from` and `to`.
 */
export function conditionsOfQuery(query: RunQuery): QueryConditions {
  const { state, ensemble, text, from, to, baseline, tags = {} } = query;
  const tagList = Object.entries(tags).map(([name, value]) => tagColumn(name, value));
  const conditions: readonly Condition[] = [
    [(place) => `state = ${place}`, state],
    [(place) => `ensemble = ${place}`, ensemble === undefined ? undefined : toColumn(ensemble)],
    [(place) => `baseline = ${place}::boolean`, baseline === true ? "true" : undefined],
    [(place) => `started_at >= ${place}::timestamptz`, from],
    [(place) => `started_at <= ${place}::timestamptz`, to],
    [(place) => `tags @> ${place}::text[]`, tagList.length === 0 ? undefined : tagList],
    [(place) => `strpos(search, ${place}) > 0`, text?.toLowerCase().replaceAll("\0", "\\0")],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  return {
    text: ["true", ...given.map(([make], i) => make(`$${i + 1}`))].join(" and "),
    values: given.flatMap(([, value]) => (value === undefined ? [] : [value])),
  };
}

export type StoreStatements = ReturnType<typeof storeStatements>;

/**
 * Returns the statements of a store of runs. `name` is the schema, which the caller has checked.
 * All columns are read as texts.
 */
// eslint-disable-next-line @typescript-eslint/explicit-module-boundary-types -- the names of the statements are its type
export function storeStatements(name: string) {
  const s = `"${name}"`;
  /** Selects the runs with their shown states. */
  const shown = `(
    select run_id, ensemble, started_at, tags, search, baseline, summary, currency, cost, input_tokens, output_tokens, unknown_calls, calls, tools,
      case when at_work and not exists (
        select from ${s}.boards as board where board.writer = run.writer and board.seen_at > clock_timestamp() - ${SILENT}
      ) then 'interrupted' else state end as state
    from ${s}.summaries as run
  ) as run`;
  const places = COLUMNS.map((column, i) => `$${i + 1}${CASTS[column] ?? ""}`);
  const replaced = COLUMNS.slice(1).map((column) => `${column} = excluded.${column}`);
  return {
    seen: `
      insert into ${s}.boards (writer, seen_at) values ($1, clock_timestamp())
      on conflict (writer) do update set seen_at = excluded.seen_at`,
    /** Also removes the heartbeats of processes that ended long ago. */
    gone: `delete from ${s}.boards where writer = $1 or seen_at < clock_timestamp() - interval '1 day'`,
    append: `
      insert into ${s}.events (run_id, n, entry)
      select $1, n::bigint, entry from unnest($2::text[], $3::text[]) as given (n, entry)
      on conflict (run_id, n) do nothing`,
    put: `
      insert into ${s}.summaries (${COLUMNS.join(", ")}) values (${places.join(", ")})
      on conflict (run_id) do update set ${replaced.join(", ")}`,
    get: `select summary, state from ${shown} where run_id = $1`,
    read: `
      select entry from ${s}.events where run_id = $1 and n > $2::bigint order by n limit $3::bigint`,
    remove: `
      with entries as (delete from ${s}.events where run_id = $1),
        traces as (delete from ${s}.traces where run_id = $1)
      delete from ${s}.summaries where run_id = $1`,
    putTrace: `
      insert into ${s}.traces (run_id, trace) values ($1, $2)
      on conflict (run_id) do update set trace = excluded.trace`,
    trace: `select trace from ${s}.traces where run_id = $1`,
    page: (conditions: string, places: readonly string[], limit: number): string => `
      select summary, state from ${shown}
      where ${conditions} ${places.length === 0 ? "" : `and (started_at, run_id) < (${places[0] ?? ""}::timestamptz, ${places[1] ?? ""})`}
      order by started_at desc, run_id desc limit ${limit}`,
    appendAudit: `insert into ${s}.audit (entry) values ($1)`,
    readAudit: `
      select n::text as n, entry from ${s}.audit where n < $1::bigint order by n desc limit $2::bigint`,
    sums: (conditions: string): string => `
      select state, currency, count(*)::text as runs, sum(cost)::text as cost, sum(input_tokens)::text as input_tokens,
        sum(output_tokens)::text as output_tokens, sum(unknown_calls)::text as unknown_calls, sum(calls)::text as calls, sum(tools)::text as tools
      from ${shown} where ${conditions} group by state, currency`,
  };
}
