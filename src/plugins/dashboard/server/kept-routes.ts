import type { HttpRoute } from "../../../contracts/http-route.js";
import type { KeptEntry, KeptRun, ResumableRuns } from "../../../contracts/journal.js";
import type { Board } from "../board.js";
import type { CallSettledBody, RunForkedBody, RunResumedBody } from "../protocol/control-bodies.js";
import type { DoubtfulCall, RunAction, RunActionsBody } from "../protocol/http-bodies.js";
import type { ReadableRun } from "../stores/board-runs.js";
import type { BoardExchange } from "./answers.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { JournalError, RunInUseError } from "../../../contracts/journal-errors.js";
import { checkOptions, requireText } from "../../../contracts/validation.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { asFields, asText } from "../../../util/objects.js";
import { badRequest, HttpRefusal, notFoundRefusal } from "../../shared/http/http-refusal.js";
import { readJsonObject } from "../../shared/http/json-body.js";
import { isAdmitted } from "../../shared/http/routes.js";
import { answersOf } from "../control/registrations.js";
import { boardJson, boardRoute } from "./answers.js";
import { goesOn } from "./found-run.js";
import { BODY_LIMITS } from "./limits.js";

const MAX_ID = 200;
/** Types of entries that occur even in a run that its journal refuses. */
const OF_EVERY_RUN: ReadonlySet<string> = new Set([
  "ensemble_started",
  "run_planned",
  "run_warning",
  "run_failed",
  "ensemble_completed",
]);
/**
 * Maximum time between the resumption of a run and its first event. The answer does not wait
 * longer.
 */
const BEGIN_MS = 5_000;

/** A run that a plugin of this process keeps. */
interface FoundKept {
  readonly runs: ResumableRuns;
  readonly run: KeptRun;
}

/** Returns the routes of runs that a journal keeps, and the list of actions for a run. */
export function keptRoutes(board: Board): readonly HttpRoute[] {
  const run = "/api/runs/{runId}";
  return [
    boardRoute("GET", `${run}/actions`, "viewer", (asked) => answerActions(board, asked)),
    boardRoute("POST", `${run}/resume`, "operator", (asked) => resumeKeptRun(board, asked)),
    boardRoute("POST", `${run}/fork`, "operator", (asked) => forkRun(board, asked)),
    boardRoute("POST", `${run}/settle`, "operator", (asked) => settleDoubt(board, asked)),
  ];
}

async function foundKeptRun(board: Board, runId: string): Promise<FoundKept | undefined> {
  for (const runs of board.keptRuns) {
    const run = await journalAnswer(() => runs.get(runId));
    if (run !== undefined) return { runs, run };
  }
  return undefined;
}

/** @throws HttpRefusal 404, 409 */
async function requireKept(board: Board, runId: string): Promise<FoundKept> {
  const kept = await foundKeptRun(board, runId);
  if (kept !== undefined) return kept;
  if ((await board.runs.find(runId)) === undefined)
    throw notFoundRefusal("RUN_NOT_FOUND", "There is no such run");
  throw new HttpRefusal(409, "NOT_DURABLE", "No journal of this process keeps the run");
}

/** @throws HttpRefusal 409, 503 for a refusal of a journal */
async function journalAnswer<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const inUse = RunInUseError.find(error);
    if (inUse !== undefined) throw new HttpRefusal(409, "RUN_IN_USE", inUse.message);
    const failed = JournalError.find(error);
    if (failed !== undefined) throw new HttpRefusal(503, "STORE_UNAVAILABLE", failed.message);
    throw error;
  }
}

async function resumeKeptRun(board: Board, asked: BoardExchange): Promise<Response> {
  checkOptions("The body", await readJsonObject(asked.request, BODY_LIMITS), []);
  const runId = asked.parameters["runId"] ?? "";
  const { runs, run } = await requireKept(board, runId);
  if (run.owner !== undefined || board.isRunning(runId))
    throw new HttpRefusal(409, "RUN_IN_USE", "A process executes the run");
  if (run.status === "completed")
    throw new HttpRefusal(409, "RUN_COMPLETED", "The run is completed: nothing is left to do");
  await begun(board, runs, runId);
  board.audit.add({ user: asked.principal.name, action: "resume", subject: runId });
  return Response.json({ runId, status: "ACCEPTED" } satisfies RunResumedBody, { status: 202 });
}

/**
 * Continues a run, and waits until it has begun. Later failures are events of the run.
 * @throws HttpRefusal 409, 503 of the journal; 422 for any other failure before the start
 */
async function begun({ feed }: Board, runs: ResumableRuns, runId: string): Promise<void> {
  let stop = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    stop = feed.listen({
      onEntry: (log) => {
        if (log.runId === runId && !OF_EVERY_RUN.has(log.entry(log.n, "slim").type)) resolve();
      },
    });
  });
  try {
    await journalAnswer(() => {
      const ended = runs.resume(runId);
      ended.catch(() => undefined); // its events are on the board
      const late = (): void => undefined;
      return withTimeout(() => Promise.race([started, ended]), { ms: BEGIN_MS, late });
    });
  } catch (error) {
    if (error instanceof HttpRefusal || !AgentEnsembleError.isInstance(error)) throw error;
    throw new HttpRefusal(422, "NOT_RUNNABLE", error.message);
  } finally {
    stop();
  }
}

async function forkRun(board: Board, asked: BoardExchange): Promise<Response> {
  const body = await readJsonObject(asked.request, BODY_LIMITS);
  checkOptions("The body", body, ["runId", "from"]);
  const { runId: wanted, from } = body;
  for (const [name, value] of Object.entries({ runId: wanted, from })) {
    if (value === undefined) continue;
    if (typeof value !== "string" || value.trim() === "" || value.length > MAX_ID)
      throw badRequest(`${name} must be a text of 1 to ${MAX_ID} characters`);
  }
  const { runs, run } = await requireKept(board, asked.parameters["runId"] ?? "");
  // Both were checked.
  const texts = { runId: wanted, from } as { readonly runId?: string; readonly from?: string };
  const runId = await journalAnswer(() => runs.fork(run.runId, texts));
  board.audit.add({
    user: asked.principal.name,
    action: "fork",
    subject: run.runId,
    detail: runId,
  });
  return Response.json({ runId, forkedFrom: run.runId } satisfies RunForkedBody, { status: 201 });
}

async function settleDoubt(board: Board, asked: BoardExchange): Promise<Response> {
  const body = await readJsonObject(asked.request, BODY_LIMITS);
  checkOptions("The body", body, ["key", "result", "again"]);
  const { key, result, again } = body;
  requireText(key, "key must not be blank");
  if ((result === undefined) === (again === undefined))
    throw badRequest("The body needs exactly one of result and again");
  if (result !== undefined && typeof result !== "string") throw badRequest("result must be a text");
  if (again !== undefined && again !== true) throw badRequest("again must be true");
  const { runs, run } = await requireKept(board, asked.parameters["runId"] ?? "");
  const { runId } = run;
  const doubts = doubtfulCalls(await journalAnswer(() => runs.entries(runId)));
  if (!doubts.some((doubt) => doubt.key === key))
    throw new HttpRefusal(409, "NOT_IN_DOUBT", "No call with this key is in doubt");
  await journalAnswer(() =>
    runs.settle(runId, asText(key), result === undefined ? "again" : { result }),
  );
  const detail = result === undefined ? "again" : "result";
  board.audit.add({ user: asked.principal.name, action: "settle", subject: runId, detail });
  const settled: CallSettledBody = { runId, key: asText(key), status: "SETTLED" };
  return Response.json(settled);
}

function doubtfulCalls(entries: readonly KeptEntry[]): readonly DoubtfulCall[] {
  return entries.flatMap(({ kind, task, value, at }) => {
    const fields = asFields(value);
    if (kind !== "intent" || fields?.["settled"] === "again") return [];
    const key = asText(fields?.["idempotencyKey"]);
    return [{ key, task, toolName: asText(fields?.["tool"]), at }];
  });
}

async function answerActions(board: Board, asked: BoardExchange): Promise<Response> {
  const runId = asked.parameters["runId"] ?? "";
  const run = await board.runs.find(runId);
  const kept = await foundKeptRun(board, runId);
  if (run === undefined && kept === undefined)
    throw notFoundRefusal("RUN_NOT_FOUND", "There is no such run");
  const doubts = kept === undefined ? [] : doubtfulCalls(await kept.runs.entries(runId));
  const name = board.starts.ensembleOf(runId) ?? run?.summary.ensemble ?? "";
  const registered = board.registrations.get(name);
  const all = registered === undefined ? [] : answersOf(registered);
  const isTraced = all.length > 0 && (await board.traces.replayable(runId)) !== undefined;
  const answers = all.filter((from) => from === "recording" || isTraced);
  const isOperator = isAdmitted(asked.principal, "operator");
  const possible = [
    ...boardActions(board, run),
    ...keptActions(board, kept, doubts.length > 0),
    ...(registered !== undefined && run !== undefined ? (["again"] as const) : []),
    ...(answers.length > 0 ? (["replay"] as const) : []),
  ];
  const body: RunActionsBody = {
    runId,
    actions: possible.filter((action) => isOperator || action === "export"),
    answers,
    ...(kept !== undefined && { kept: keptState(kept.run) }),
    doubts,
  };
  return boardJson(JSON.stringify(body), asked.request);
}

function boardActions(board: Board, run: ReadableRun | undefined): readonly RunAction[] {
  if (run === undefined) return [];
  const ended: readonly RunAction[] = goesOn(run) ? [] : ["baseline", "remove"];
  return ["export", ...(board.isRunning(run.summary.runId) ? (["cancel"] as const) : []), ...ended];
}

function keptActions(
  board: Board,
  kept: FoundKept | undefined,
  isInDoubt: boolean,
): readonly RunAction[] {
  if (kept === undefined) return [];
  const { runId, owner, status } = kept.run;
  const isFree = owner === undefined && !board.isRunning(runId);
  return [
    "fork",
    ...(isFree && status !== "completed" ? (["resume"] as const) : []),
    ...(isFree && isInDoubt ? (["settle"] as const) : []),
  ];
}

function keptState({
  status,
  executions,
  finishedTasks,
  waitsFor,
}: KeptRun): NonNullable<RunActionsBody["kept"]> {
  return { status, executions, finishedTasks, ...(waitsFor !== undefined && { waitsFor }) };
}
