import type { HttpRoute } from "../../../contracts/http-route.js";
import type { Board } from "../board.js";
import type { CompareBody, RunBaselineBody, SearchBody } from "../protocol/http-bodies.js";
import type { BoardExchange } from "./answers.js";
import { badRequest } from "../../shared/http/http-refusal.js";
import { compareRuns } from "../protocol/compare.js";
import { searchRun, searchRuns } from "../stores/search-run.js";
import { readWhole } from "../stores/whole-run.js";
import { boardJson, boardRoute } from "./answers.js";
import { endedRun, foundRun, runOfId } from "./found-run.js";
import { runQueryIn } from "./run-routes.js";

const MAX_SEARCH = 200;
/** Maximum number of runs of a search without a run. */
const MAX_SEARCHED = 100;

/** Returns the routes that read a complete run: comparison, baseline, search. */
export function comparisonRoutes(board: Board): readonly HttpRoute[] {
  const baseline = "/api/runs/{runId}/baseline";
  return [
    boardRoute("GET", "/api/compare", "viewer", (asked) => answerComparison(board, asked)),
    boardRoute("GET", "/api/search", "viewer", (asked) => answerSearch(board, asked)),
    boardRoute("GET", baseline, "viewer", (asked) => answerBaseline(board, asked)),
    boardRoute("PUT", baseline, "operator", (asked) => markBaseline(board, asked, true)),
    boardRoute("DELETE", baseline, "operator", (asked) => markBaseline(board, asked, false)),
  ];
}

/** Returns a required text of the query. @throws HttpRefusal 400 */
function requiredIn(query: URLSearchParams, name: string): string {
  const text = query.get(name) ?? "";
  if (text.trim() === "") throw badRequest(`${name} must not be blank`);
  return text;
}

async function answerComparison(
  board: Board,
  { query, request }: BoardExchange,
): Promise<Response> {
  const a = await runOfId(board, requiredIn(query, "a"));
  const b = await runOfId(board, requiredIn(query, "b"));
  const body: CompareBody = compareRuns(await readWhole(a), await readWhole(b));
  return boardJson(JSON.stringify(body), request);
}

async function answerSearch(board: Board, { query, request }: BoardExchange): Promise<Response> {
  const text = requiredIn(query, "q");
  if (text.length > MAX_SEARCH) throw badRequest(`q must have at most ${MAX_SEARCH} characters`);
  const body = query.has("run")
    ? await searchRun(await runOfId(board, requiredIn(query, "run")), text)
    : await searchNewest(board, { query, text });
  return boardJson(JSON.stringify(body), request);
}

/** Searches the newest runs that match the conditions of a list. */
async function searchNewest(
  { runs }: Board,
  { query, text }: { readonly query: URLSearchParams; readonly text: string },
): Promise<SearchBody> {
  const newest = await runs.list({ ...runQueryIn(query), limit: MAX_SEARCHED });
  const ids = newest.runs.map(({ runId }) => runId);
  const found = await searchRuns(ids, text, (runId) => runs.find(runId));
  return { ...found, more: found.more || newest.next !== undefined };
}

async function answerBaseline(board: Board, asked: BoardExchange): Promise<Response> {
  const run = await foundRun(board, asked);
  const baseline = await board.runs.baselineOf(run.summary.ensemble);
  const isOther = baseline !== undefined && baseline.runId !== run.summary.runId;
  const counts = isOther ? await board.changesSince(baseline, run) : undefined;
  const body: RunBaselineBody = { baseline, counts };
  return boardJson(JSON.stringify(body), asked.request);
}

async function markBaseline(
  board: Board,
  asked: BoardExchange,
  isBaseline: boolean,
): Promise<Response> {
  const { summary } = await endedRun(board, asked);
  await board.runs.markBaseline(summary, isBaseline);
  const { name } = asked.principal;
  const detail = isBaseline ? "set" : "ended";
  board.audit.add({ user: name, action: "baseline", subject: summary.runId, detail });
  return new Response(null, { status: 204 });
}
