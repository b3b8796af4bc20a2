import type { RunQuery, RunStore, RunSummary } from "../../../contracts/run-store.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";

/** Which page of a list is asked for where nothing is said. */
const PAGE = 50;

/** Whether a summary fits all that a query says. */
function fitsQuery(run: RunSummary, query: RunQuery): boolean {
  const { state, ensemble, text, from, to, tags = {} } = query;
  return (
    (state === undefined || run.state === state) &&
    (ensemble === undefined || run.ensemble === ensemble) &&
    (from === undefined || Date.parse(run.startedAt) >= Date.parse(from)) &&
    (to === undefined || Date.parse(run.startedAt) <= Date.parse(to)) &&
    Object.entries(tags).every(([name, value]) => run.tags[name] === value) &&
    (text === undefined || shownTexts(run).includes(text.toLowerCase()))
  );
}

function shownTexts({ runId, ensemble, workflow, state, inputs, tags, error }: RunSummary): string {
  return JSON.stringify([runId, ensemble, workflow, state, inputs, tags, error]).toLowerCase();
}

/** Later runs first; of runs that began at the same time that with the higher id. */
function isBehind(run: RunSummary, startedAt: string, runId: string): boolean {
  const [mine, other] = [Date.parse(run.startedAt), Date.parse(startedAt)];
  return mine < other || (mine === other && run.runId < runId);
}

/** One page of a list. @throws ValidationError for a cursor that no page gave, and for a limit that is no whole number from 1 to 1,000. */
export function pageOfRuns(
  runs: Iterable<RunSummary>,
  query: RunQuery,
): Awaited<ReturnType<RunStore["list"]>> {
  const { limit = PAGE, before } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
    throw new ValidationError(
      `The limit of a list of runs must be 1 to 1,000, got: ${preview(limit)}`,
    );
  const cursor = before === undefined ? undefined : readCursor(before);
  const fitting = [...runs]
    .filter((run) => fitsQuery(run, query))
    .sort((a, b) => (isBehind(b, a.startedAt, a.runId) ? -1 : 1));
  const rest = cursor === undefined ? fitting : fitting.filter((run) => isBehind(run, ...cursor));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    runs: page,
    total: fitting.length,
    ...(last !== undefined && rest.length > limit && { next: `${last.startedAt}/${last.runId}` }),
  };
}

function readCursor(before: string): readonly [startedAt: string, runId: string] {
  const slash = before.indexOf("/");
  const startedAt = before.slice(0, slash);
  if (slash < 0 || Number.isNaN(Date.parse(startedAt)))
    throw new ValidationError(`No page of a list of runs ends at ${preview(before)}`, {
      hint: "Pass the `next` of the page before.",
    });
  return [startedAt, before.slice(slash + 1)];
}
