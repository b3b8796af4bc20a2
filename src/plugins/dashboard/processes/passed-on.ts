import type { HttpRoute } from "../../../contracts/http-route.js";
import type { AuditAction } from "../../../contracts/run-store.js";
import type { Fields } from "../../../util/objects.js";
import type { RunActionsBody } from "../protocol/http-bodies.js";
import type { ProcessRequest } from "../protocol/report-messages.js";
import type { FoundProcess } from "./board-processes.js";
import type { Board } from "../board.js";
import type { BoardExchange } from "../server/answers.js";
import { asText } from "../../../util/objects.js";
import { HttpRefusal } from "../../shared/http/http-refusal.js";
import { readJsonObject } from "../../shared/http/json-body.js";
import { PASSED_ON } from "../protocol/report-messages.js";
import { boardJson, boardRoute } from "../server/answers.js";
import { BODY_LIMITS } from "../server/limits.js";
import { noTrace } from "../server/found-run.js";
import { withWholeIds } from "./board-process.js";
import { passedOffer } from "./passed-offers.js";
import { processAnswer, askingPerson, onceOnBoard } from "./process-answers.js";

/** Actions that only the process of a run can execute. */
const OF_PROCESS: ReadonlySet<string> = new Set([
  "cancel",
  "again",
  "replay",
  "resume",
  "fork",
  "settle",
]);

/**
 * Returns a route that passes requests about runs and offers of another process to that process.
 */
export function passedOn(board: Board, route: HttpRoute): HttpRoute {
  return passedOffer(board, passedRun(board, route));
}

function passedRun(board: Board, route: HttpRoute): HttpRoute {
  const { method, path, role } = route;
  const isOfRun = path.startsWith("/api/runs/{runId}/");
  if (!PASSED_ON.has(`${method} ${path}`) || !isOfRun || role === "public") return route;
  return boardRoute(method, path, role, (asked) => {
    const found = board.processes.of(asked.parameters["runId"] ?? "");
    const own = (): ReturnType<HttpRoute["handle"]> =>
      route.handle(asked.request, asked.principal, asked.parameters);
    if (found === undefined) return own();
    const verb = path.slice(path.lastIndexOf("/") + 1);
    if (verb === "actions") return answerProcessActions(board, found, { asked, own });
    return answerFromProcess(board, found, { asked, verb });
  });
}

async function answerFromProcess(
  board: Board,
  { process, id }: FoundProcess,
  { asked, verb }: { readonly asked: BoardExchange; readonly verb: string },
): Promise<Response> {
  const { request, principal, parameters } = asked;
  const isPost = request.method === "POST";
  if (verb === "trace" && !board.settings.contents) throw noTrace();
  const key = request.headers.get("idempotency-key");
  const body = isPost ? await readJsonObject(request, BODY_LIMITS) : undefined;
  const { status, text } = await process.ask({
    user: askingPerson(principal),
    method: isPost ? "POST" : "GET",
    path: `/api/runs/${encodeURIComponent(id)}/${verb}`,
    ...(body !== undefined && { body: withOwnIds(body, process.wholeId("")) }),
    ...(key !== null && { key }),
  });
  if (!isPost)
    return status === 200
      ? boardJson(text, request)
      : Response.json(processAnswer(text), { status });
  const answer = withWholeIds(text, process.wholeId);
  if (status < 300)
    board.audit.add({
      user: principal.name,
      action: verb as AuditAction, // the actions of runs are verbs
      subject: parameters["runId"] ?? "",
    });
  if (status === 202 && verb === "again") await onceOnBoard(board, asText(answer["runId"]));
  return Response.json(answer, { status });
}

/** Replaces the ids in a request by those of the process. */
function withOwnIds(body: Fields, prefix: string): Fields {
  const { answersFrom } = body;
  const isOfProcess = typeof answersFrom === "string" && answersFrom.startsWith(prefix);
  return isOfProcess ? { ...body, answersFrom: answersFrom.slice(prefix.length) } : body;
}

/**
 * Returns the possible actions for a run on the board. Includes those of its process while it is
 * connected.
 */
async function answerProcessActions(
  board: Board,
  { process, id }: FoundProcess,
  {
    asked,
    own,
  }: { readonly asked: BoardExchange; readonly own: () => ReturnType<HttpRoute["handle"]> },
): Promise<Response> {
  const here = await own();
  if (!process.isConnected || here.status !== 200) return here;
  const { status, text } = await process.ask({
    user: askingPerson(asked.principal),
    method: "GET",
    path: `/api/runs/${encodeURIComponent(id)}/actions`,
  });
  if (status !== 200) return here;
  const onBoard = (await here.json()) as RunActionsBody; // the route returns this form
  // The same route returns this form.
  const there = withWholeIds(text, process.wholeId) as unknown as RunActionsBody;
  const body: RunActionsBody = {
    ...there,
    runId: onBoard.runId,
    actions: [
      ...there.actions.filter((action) => OF_PROCESS.has(action)),
      ...onBoard.actions.filter((action) => !OF_PROCESS.has(action)),
    ],
  };
  return boardJson(JSON.stringify(body), asked.request);
}

/**
 * Answers a review in its process.
 * @throws HttpRefusal the refusal of the process, or 503 or 504 without an answer
 */
export async function answerInProcess(
  { process, id }: FoundProcess,
  request: Omit<ProcessRequest, "path" | "method">,
): Promise<Fields> {
  const path = `/api/reviews/${encodeURIComponent(id)}`;
  const { status, text } = await process.ask({ ...request, method: "POST", path });
  const { error, message, ...fields } = withWholeIds(text, process.wholeId);
  if (status === 200) return fields;
  throw new HttpRefusal(status, asText(error), asText(message), { fields });
}
