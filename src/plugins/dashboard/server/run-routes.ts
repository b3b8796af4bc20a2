import type { HttpRoute } from "../../../contracts/http-route.js";
import type { RunQuery } from "../../../contracts/run-store.js";
import type { Board } from "../board.js";
import type { BarsBody, RunListBody } from "../protocol/http-bodies.js";
import type { Bar } from "../protocol/state-types.js";
import type { ReadableRun } from "../stores/board-runs.js";
import type { BoardExchange } from "./answers.js";
import { requireOneOf } from "../../../contracts/validation.js";
import { badRequest, HttpRefusal, notFoundRefusal } from "../../shared/http/http-refusal.js";
import { readJsonObject } from "../../shared/http/json-body.js";
import { boardRoute, countIn, boardJson } from "./answers.js";
import { entryEvents, type CountedStream } from "./entry-events.js";
import { attachmentOf, endedRun, foundRun, noTrace } from "./found-run.js";
import { BODY_LIMITS } from "./limits.js";
import { uiStream } from "./ui-stream.js";

const MAX_ENTRIES = 1_000;
/** Number of characters above which a page of entries ends. */
const PAGE_LENGTH = 4 * 1024 * 1024;
const MAX_ROWS = 10_000;
const MAX_REASON = 1_000;
const STATES = ["running", "waiting", "done", "failed", "stopped", "interrupted"] as const;
const ONCE = ["state", "ensemble", "text", "from", "to", "before"] as const;

/** Returns the routes of runs. */
export function runRoutes(board: Board, openStream: CountedStream): readonly HttpRoute[] {
  const run = "/api/runs/{runId}";
  return [
    boardRoute("GET", "/api/runs", "viewer", (asked) => listRuns(board, asked)),
    boardRoute("GET", run, "viewer", (asked) => oneRun(board, asked)),
    boardRoute("GET", `${run}/log`, "viewer", (asked) => answerLog(board, asked)),
    boardRoute("GET", `${run}/tasks/{taskId}`, "viewer", (asked) => answerTask(board, asked)),
    boardRoute("GET", `${run}/bars`, "viewer", (asked) => answerBars(board, asked)),
    boardRoute("GET", `${run}/events`, "viewer", async (asked) =>
      entryEvents(board, await foundRun(board, asked), {
        ...asked,
        after: afterOf(asked),
        openStream,
      }),
    ),
    boardRoute("GET", `${run}/ui-stream`, "viewer", async (asked) =>
      uiStream(board, await foundRun(board, asked), {
        signal: asked.request.signal,
        openStream,
        taskId: asked.query.get("task") ?? undefined,
      }),
    ),
    boardRoute("GET", `${run}/trace`, "viewer", (asked) => answerTrace(board, asked)),
    boardRoute("DELETE", run, "operator", (asked) => removeRun(board, asked)),
    boardRoute("POST", `${run}/cancel`, "operator", (asked) => cancelRun(board, asked)),
  ];
}

async function listRuns({ runs }: Board, { request, query }: BoardExchange): Promise<Response> {
  const limit = countIn(query, "limit", { least: 1, most: MAX_ENTRIES, otherwise: 50 });
  const body: RunListBody = await runs.list({ ...runQueryIn(query), limit });
  return boardJson(JSON.stringify(body), request);
}

/** Returns the conditions of a list of runs. @throws HttpRefusal 400; ValidationError */
export function runQueryIn(query: URLSearchParams): RunQuery {
  const asked: Record<string, unknown> = {};
  for (const name of ONCE) {
    const value = query.get(name);
    if (value !== null) asked[name] = value;
  }
  requireOneOf("state", asked["state"], STATES);
  const tags = query.getAll("tag").map((tag) => {
    const colon = tag.indexOf(":");
    if (colon < 1) throw badRequest("tag must be like customer:acme");
    return [tag.slice(0, colon), tag.slice(colon + 1)] as const;
  });
  for (const name of ["from", "to"] as const)
    if (query.has(name) && Number.isNaN(Date.parse(query.get(name) ?? "")))
      throw badRequest(`${name} must be an ISO instant`);
  return { ...asked, tags: Object.fromEntries(tags) }; // the values are texts with the names above
}

async function oneRun(board: Board, asked: BoardExchange): Promise<Response> {
  const run = await foundRun(board, asked);
  const [summary, epoch] = [JSON.stringify(run.summary), JSON.stringify(board.epoch)];
  const text = `{"summary":${summary},"snapshot":${run.snapshotText()},"epoch":${epoch}}`;
  return boardJson(text, asked.request);
}

/** Returns the number after which entries are requested. */
function afterOf({ query, request }: BoardExchange): number {
  const last = request.headers.get("last-event-id");
  const resumed = last === null ? query : new URLSearchParams({ after: last });
  return countIn(resumed, "after", {
    least: -1,
    most: Number.MAX_SAFE_INTEGER,
    otherwise: -1,
  });
}

function limitOf({ query }: BoardExchange): number {
  return countIn(query, "limit", { least: 1, most: MAX_ENTRIES, otherwise: MAX_ENTRIES });
}

async function answerLog(board: Board, asked: BoardExchange): Promise<Response> {
  const run = await foundRun(board, asked);
  const first = afterOf(asked) + 1;
  const count = Math.max(0, Math.min(limitOf(asked), run.n - first + 1));
  const form = asked.query.get("slim") === "true" ? "slim" : "full";
  const numbers = Array.from({ length: count }, (_, i) => first + i);
  return entriesAnswer(run, { numbers, form, isMore: first + count <= run.n }, asked);
}

async function answerTask(board: Board, asked: BoardExchange): Promise<Response> {
  const run = await foundRun(board, asked);
  const all = run.numbersOf(asked.parameters["taskId"] ?? "");
  if (all.length === 0)
    throw notFoundRefusal("TASK_NOT_FOUND", "The run has no entry of this task");
  const after = afterOf(asked);
  const rest = all.filter((n) => n > after);
  const numbers = rest.slice(0, limitOf(asked));
  return entriesAnswer(run, { numbers, form: "full", isMore: numbers.length < rest.length }, asked);
}

function entriesAnswer(
  run: ReadableRun,
  page: {
    readonly numbers: readonly number[];
    readonly form: "slim" | "full";
    readonly isMore: boolean;
  },
  { request }: BoardExchange,
): Promise<Response> {
  const texts: string[] = [];
  let length = 0;
  for (const n of page.numbers) {
    if (length > PAGE_LENGTH) break;
    const text = run.text(n, page.form);
    texts.push(text);
    length += text.length;
  }
  const isMore = page.isMore || texts.length < page.numbers.length;
  const next = isMore ? `,"next":${page.numbers[texts.length - 1] ?? -1}` : "";
  return boardJson(`{"entries":[${texts.join(",")}]${next}}`, request);
}

async function answerBars(board: Board, asked: BoardExchange): Promise<Response> {
  const run = await foundRun(board, asked);
  const { query } = asked;
  const most = Number.MAX_SAFE_INTEGER;
  const from = countIn(query, "from", { least: 0, most, otherwise: 0 });
  const to = countIn(query, "to", { least: from, most, otherwise: from + MAX_ROWS });
  const rows = run
    .bars(from, Math.min(to, from + MAX_ROWS))
    .map(({ taskId, bars }) => ({ taskId, bars: bars.flatMap(flatBar) }));
  return boardJson(JSON.stringify({ rows } satisfies BarsBody), asked.request);
}

function flatBar({ kind, startMs, endMs }: Bar): BarsBody["rows"][number]["bars"] {
  return [kind, startMs, endMs ?? null];
}

async function answerTrace(board: Board, asked: BoardExchange): Promise<Response> {
  const { runId } = (await endedRun(board, asked)).summary;
  const text = await board.traces.textOf(runId);
  if (text === undefined) throw noTrace();
  board.audit.add({ user: asked.principal.name, action: "export", subject: runId });
  return boardJson(text, asked.request, attachmentOf(runId, "trace.json"));
}

async function removeRun(board: Board, asked: BoardExchange): Promise<Response> {
  const { runId } = (await endedRun(board, asked)).summary;
  await board.traces.written(); // otherwise the trace could be stored after the removal
  await board.runs.remove(runId);
  board.audit.add({ user: asked.principal.name, action: "remove", subject: runId });
  return new Response(null, { status: 204 });
}

async function cancelRun(board: Board, asked: BoardExchange): Promise<Response> {
  const { reason } = await readJsonObject(asked.request, BODY_LIMITS);
  if (reason !== undefined && (typeof reason !== "string" || reason.length > MAX_REASON))
    throw badRequest(`reason must be a text of at most ${MAX_REASON} characters`);
  const { summary } = await foundRun(board, asked);
  const { runId } = summary;
  const { name } = asked.principal;
  if (!board.cancel(runId, reason ?? `Cancelled on the dashboard by ${name}`))
    throw new HttpRefusal(409, "RUN_COMPLETED", "The run is not under way in this process");
  board.audit.add({ user: name, action: "cancel", subject: runId, detail: reason });
  return Response.json({ runId, status: "CANCELLING" }, { status: 202 });
}
