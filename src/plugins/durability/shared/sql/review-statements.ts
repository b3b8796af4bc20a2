import { isoText } from "./journal-statements.js";

export interface ReviewStatements {
  readonly ask: string;
  readonly find: string;
  readonly pending: string;
  readonly pendingIds: string;
  readonly resolve: string;
}

/**
 * Returns the statements of reviews. The caller has checked `name`. A review has expired when its
 * deadline has passed, or its run is completed or cancelled. The clock of the database is used.
 */
export function reviewStatements(name: string): ReviewStatements {
  const s = `"${name}"`;
  const columns = `review_id, request, decision, ${isoText("decided_at")} as decided_at`;
  const isOpen = `decision is null and (deadline is null or deadline > clock_timestamp()) and not exists (
    select from ${s}.runs as run where run.run_id = review.run_id and run.status in ('completed', 'cancelled')
  )`;
  const notified = `select review_id, pg_notify('${name}_reviews', '')::text from changed`;
  return {
    ask: `
      with changed as (
        insert into ${s}.reviews (review_id, run_id, request, deadline)
        values ($1, $2, $3, to_timestamp(nullif($4, '')::float8))
        on conflict (review_id) do nothing returning review_id
      )
      ${notified}`,
    find: `select ${columns} from ${s}.reviews where review_id = any($1::text[])`,
    pending: `select ${columns} from ${s}.reviews as review where ${isOpen} order by n`,
    pendingIds: `select review_id from ${s}.reviews as review where ${isOpen} order by n`,
    resolve: `
      with changed as (
        update ${s}.reviews as review set decision = $2, decided_at = clock_timestamp()
        where review_id = $1 and ${isOpen} returning review_id
      )
      ${notified}`,
  };
}
