import type { HttpRoute } from "../../../contracts/http-route.js";
import type { RunOptions } from "../../../contracts/run.js";
import type { Fields } from "../../../util/objects.js";
import type { Inputs } from "../../../contracts/types.js";
import type { Service } from "../../../contracts/service.js";
import type { Board } from "../board.js";
import type { RegisteredEnsemble, Runnable } from "../control/registrations.js";
import type {
  EnsembleBody,
  EnsembleListBody,
  StartableEnsemble,
} from "../protocol/control-bodies.js";
import type { BoardExchange } from "./answers.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { checkOptions, requireInteger, requireOneOf } from "../../../contracts/validation.js";
import { isObject } from "../../../util/objects.js";
import { badRequest, HttpRefusal, notFoundRefusal } from "../../shared/http/http-refusal.js";
import { readJsonObject } from "../../shared/http/json-body.js";
import { answersOf, startable } from "../control/registrations.js";
import { explainedInputs, type RequestedRun, type RequestKey } from "../control/run-starts.js";
import { queueRun, sharesRuns } from "../control/service-runs.js";
import { boardJson, boardRoute } from "./answers.js";
import { foundRun } from "./found-run.js";
import { BODY_LIMITS } from "./limits.js";

const ANSWERS = ["answersFrom", "onMiss"];
const START = ["ensemble", "inputs", "tags", "captureMode", "timeoutMs", ...ANSWERS];
const AGAIN = ["inputs", ...ANSWERS];
const MAX_KEY = 200;

/** Returns the routes that start runs. */
export function controlRoutes(board: Board, service?: Service): readonly HttpRoute[] {
  const ensemble = "/api/ensembles/{name}";
  return [
    boardRoute("GET", "/api/ensembles", "viewer", (asked) => listEnsembles(board, asked)),
    boardRoute("GET", ensemble, "viewer", (asked) => oneEnsemble(board, asked)),
    boardRoute("POST", `${ensemble}/explain`, "operator", (asked) => explainEnsemble(board, asked)),
    boardRoute("POST", "/api/runs", "operator", (asked) => startRun(board, asked, service)),
    boardRoute("POST", "/api/runs/{runId}/again", "operator", (asked) => runAgain(board, asked)),
  ];
}

function listEnsembles(board: Board, { request }: BoardExchange): Promise<Response> {
  const ensembles = [...ensemblesOf(board), ...board.processes.ensembles];
  const body: EnsembleListBody = { ensembles };
  return boardJson(JSON.stringify(board.shownValue(body)), request);
}

/** Returns the registered ensembles of this process. */
export function ensemblesOf({ registrations }: Board): readonly StartableEnsemble[] {
  return registrations.all.map(startable);
}

function oneEnsemble(board: Board, { parameters, request }: BoardExchange): Promise<Response> {
  const registered = registeredAs(board, parameters["name"] ?? "");
  const body: EnsembleBody = { ensemble: startable(registered), dag: registered.runnable.toDag() };
  return boardJson(JSON.stringify(board.shownValue(body)), request);
}

/** Returns the registered ensemble of a name. @throws HttpRefusal 404 */
function registeredAs({ registrations }: Board, name: string): RegisteredEnsemble {
  const registered = registrations.get(name);
  if (registered === undefined)
    throw notFoundRefusal("ENSEMBLE_NOT_FOUND", "No ensemble is registered under this name");
  return registered;
}

async function explainEnsemble(board: Board, asked: BoardExchange): Promise<Response> {
  const body = await readJsonObject(asked.request, BODY_LIMITS);
  checkOptions("The body", body, ["inputs"]);
  const { runnable } = registeredAs(board, asked.parameters["name"] ?? "");
  const explanation = await explainedInputs(runnable, inputsIn(body) ?? {});
  return boardJson(JSON.stringify(board.shownValue(explanation)), asked.request);
}

/** @throws HttpRefusal 400 */
function inputsIn({ inputs }: Fields): Inputs | undefined {
  if (inputs === undefined || isObject(inputs)) return inputs;
  throw badRequest("inputs must be an object");
}

async function startRun(
  board: Board,
  asked: BoardExchange,
  service: Service | undefined,
): Promise<Response> {
  const body = await readJsonObject(asked.request, BODY_LIMITS);
  checkOptions("The body", body, START);
  const { ensemble } = body;
  const isOfService = ensemble === undefined || ensemble === service?.name;
  if (service !== undefined && isOfService && sharesRuns(service))
    return requestRun(board, asked, { body, service });
  const registered = chosenEnsemble(board, body["ensemble"]);
  const start = {
    ensemble: registered.name,
    inputs: inputsIn(body) ?? {},
    options: optionsIn(body),
    ...madeIn(board, registered, body),
  };
  const action = start.isTemporary ? "replay" : "start";
  return answerStart(board, asked, { body, start, action });
}

/** Starts a run as a request of the service whose listener serves the board. */
async function requestRun(
  board: Board,
  asked: BoardExchange,
  { body, service }: { readonly body: Fields; readonly service: Service },
): Promise<Response> {
  for (const name of ["tags", "captureMode", ...ANSWERS])
    if (body[name] !== undefined) throw badRequest(`${name} has no effect on a run of a service`);
  const { timeoutMs } = optionsIn(body);
  const inputs = inputsIn(body) ?? {};
  const registered = board.registrations.get(service.name);
  const user = asked.principal.name;
  const accepted = await board.starts.keyed(keyOf(asked, body), async () => {
    const plan = registered && (await explainedInputs(registered.runnable, inputs));
    const runId = board.starts.nextId();
    const queued = await queueRun(service, { runId, from: user, inputs, timeoutMs });
    board.audit.add({ user, action: "start", subject: runId, detail: service.name });
    return { ...queued, ...(plan && { tasks: plan.tasks.length, workflow: plan.workflow }) };
  });
  return Response.json(accepted, { status: 202 });
}

/** @throws HttpRefusal 400, 404, 503 */
function chosenEnsemble(board: Board, name: unknown): RegisteredEnsemble {
  const { all } = board.registrations;
  if (all.length === 0)
    throw new HttpRefusal(503, "NOT_CONFIGURED", "No ensemble is registered on the dashboard");
  if (name !== undefined && typeof name !== "string") throw badRequest("ensemble must be a text");
  if (name !== undefined) return registeredAs(board, name);
  const [only] = all;
  if (only === undefined || all.length > 1)
    throw badRequest(`ensemble must be one of ${all.map((one) => one.name).join(", ")}`);
  return only;
}

/** @throws ValidationError */
function optionsIn({ tags, captureMode, timeoutMs }: Fields): Omit<RunOptions, "runId"> {
  if (tags !== undefined && !isTextRecord(tags))
    throw badRequest("tags must be an object of texts");
  requireInteger("timeoutMs", timeoutMs, 1, "> 0");
  if (captureMode !== undefined && typeof captureMode !== "string")
    throw badRequest("captureMode must be a text");
  return {
    // The values are texts, as checked.
    ...(tags !== undefined && { tags: tags as Readonly<Record<string, string>> }),
    ...(captureMode !== undefined && { captureMode }),
    ...(timeoutMs !== undefined && { timeoutMs: Number(timeoutMs) }),
  };
}

function isTextRecord(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((text) => typeof text === "string");
}

/** @throws HttpRefusal 400 */
function keyOf({ request, principal }: BoardExchange, body: unknown): RequestKey | undefined {
  const key = request.headers.get("idempotency-key");
  if (key === null) return undefined;
  if (key.trim() === "" || key.length > MAX_KEY)
    throw badRequest(`Idempotency-Key must have 1 to ${MAX_KEY} characters`);
  const path = new URL(request.url).pathname;
  return { user: principal.name, key, body: [path, body] };
}

/**
 * Starts a run. A repeated request gets the answer of the first request, and adds nothing to the
 * audit log.
 */
async function answerStart(
  board: Board,
  asked: BoardExchange,
  o: {
    readonly body: Fields;
    readonly start: RequestedRun;
    readonly action: "start" | "again" | "replay";
  },
): Promise<Response> {
  const accepted = await board.starts.keyed(keyOf(asked, o.body), async () => {
    const started = await board.starts.start(o.start);
    const { runId, ensemble } = started;
    const user = asked.principal.name;
    board.audit.add({ user, action: o.action, subject: runId, detail: ensemble });
    return started;
  });
  return Response.json(accepted, { status: 202 });
}

async function runAgain(board: Board, asked: BoardExchange): Promise<Response> {
  const body = await readJsonObject(asked.request, BODY_LIMITS);
  checkOptions("The body", body, AGAIN);
  const run = await foundRun(board, asked);
  const { runId, tags } = run.summary;
  const name = board.starts.ensembleOf(runId) ?? run.summary.ensemble;
  const registered = board.registrations.get(name);
  if (registered === undefined)
    throw notReplayable("The ensemble of the run is not registered on the dashboard");
  const start = {
    ensemble: name,
    inputs: inputsIn(body) ?? board.inputsOf(run),
    options: { tags },
    ...madeIn(board, registered, body),
  };
  const action = start.isTemporary ? "replay" : "again";
  return answerStart(board, asked, { body, start, action });
}

/**
 * Returns the ensemble of a start: the registered ensemble, or one with the answers of an earlier
 * run.
 * @throws HttpRefusal 400; ValidationError
 */
function madeIn(
  board: Board,
  registered: RegisteredEnsemble,
  { answersFrom = "models", onMiss }: Fields,
): Pick<RequestedRun, "make" | "isTemporary"> {
  requireOneOf("onMiss", onMiss, ["fail", "live"]);
  if (typeof answersFrom !== "string") throw badRequest("answersFrom must be a text");
  if (answersFrom !== "models")
    return {
      make: () => replaying(board, registered, { answersFrom, onMiss }),
      isTemporary: true,
    };
  if (onMiss !== undefined) throw badRequest("onMiss has no effect: the answers come from models");
  return { make: () => Promise.resolve(registered.runnable), isTemporary: false };
}

/** Creates the ensemble with the answers of an earlier run. @throws HttpRefusal 409 */
async function replaying(
  board: Board,
  registered: RegisteredEnsemble,
  { answersFrom, onMiss }: { readonly answersFrom: string; readonly onMiss: unknown },
): Promise<Runnable> {
  const { options, access } = registered;
  const isRecording = answersFrom === "recording";
  if (!answersOf(registered).includes(isRecording ? "recording" : "trace"))
    throw notReplayable(
      `The ensemble was registered without ${isRecording ? "a recording" : "create"}`,
    );
  const source = isRecording ? options.recording : await board.traces.replayable(answersFrom);
  if (source === undefined)
    throw notReplayable("There is no trace of captureMode FULL of the run with the answers");
  try {
    const plugin = await access?.replay?.({ source, onMiss: onMiss === "live" ? "live" : "fail" });
    const plugins = [board.plugin, ...(plugin === undefined ? [] : [plugin])];
    const runnable = await options.create?.({ plugins });
    if (runnable === undefined) throw notReplayable("create() returned nothing");
    return runnable;
  } catch (error) {
    if (!AgentEnsembleError.isInstance(error)) throw error;
    throw notReplayable(error.message);
  }
}

function notReplayable(message: string): HttpRefusal {
  return new HttpRefusal(409, "NOT_REPLAYABLE", message);
}
