import type { KeptRun, RunFilter, RunPage, RunStatus } from "../../../contracts/journal.js";
import { checkOptions, requireInteger } from "../../../contracts/validation.js";
import { ValidationError } from "../../../contracts/errors.js";

const FILTER = ["status", "ensemble", "tags", "updatedBefore", "after", "limit"];
const DEFAULT_LIMIT = 50;
const MOST = 1_000;

/** @throws ValidationError for an invalid filter of runs. */
export function checkRunFilter(filter: RunFilter): void {
  checkOptions("The filter of runs", filter, FILTER);
  requireInteger("limit", filter.limit, 1);
  if ((filter.limit ?? 1) > MOST)
    throw new ValidationError(`limit must be at most ${MOST}, got: ${filter.limit}`);
  if (filter.updatedBefore !== undefined && Number.isNaN(Date.parse(filter.updatedBefore)))
    throw new ValidationError("updatedBefore must be an ISO instant");
}

/**
 * Returns a page of the matching `runs`, the newest first. `next` identifies the last run of the
 * page.
 */
export function listOf(runs: readonly KeptRun[], filter: RunFilter): RunPage {
  checkRunFilter(filter);
  const fitting = runs.filter((run) => fits(run, filter)).sort(newestFirst);
  const { after, limit = DEFAULT_LIMIT } = filter;
  const last = after === undefined ? undefined : placeOf(after);
  const rest = last === undefined ? fitting : fitting.filter((run) => newestFirst(run, last) > 0);
  const page = rest.slice(0, limit);
  const end = page.at(-1);
  return rest.length > limit && end !== undefined
    ? { runs: page, next: JSON.stringify([end.startedAt, end.runId]) }
    : { runs: page };
}

function fits(run: KeptRun, { status, ensemble, tags = {}, updatedBefore }: RunFilter): boolean {
  return (
    (status === undefined || run.status === status) &&
    (ensemble === undefined || run.ensemble === ensemble) &&
    (updatedBefore === undefined || Date.parse(run.updatedAt) < Date.parse(updatedBefore)) &&
    Object.entries(tags).every(([name, value]) => run.tags[name] === value)
  );
}

type Place = Pick<KeptRun, "startedAt" | "runId">;

function newestFirst(a: Place, b: Place): number {
  if (a.startedAt !== b.startedAt) return a.startedAt < b.startedAt ? 1 : -1;
  return a.runId === b.runId ? 0 : a.runId < b.runId ? 1 : -1;
}

/** @throws ValidationError for an invalid cursor. */
function placeOf(after: string): Place {
  try {
    const [startedAt, runId] = JSON.parse(after) as readonly unknown[]; // checked below
    if (typeof startedAt === "string" && typeof runId === "string") return { startedAt, runId };
  } catch {
    // reported below
  }
  throw new ValidationError("after must be the `next` of a page of runs");
}

/**
 * Returns whether a run with this status has ended. Its reviews have then expired, and it can't be
 * cancelled.
 */
export function isEnded(status: RunStatus | undefined): boolean {
  return status === "completed" || status === "cancelled";
}
