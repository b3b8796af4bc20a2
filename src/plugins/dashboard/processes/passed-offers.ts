import type { HttpRoute } from "../../../contracts/http-route.js";
import type { Board } from "../board.js";
import type { BoardExchange } from "../server/answers.js";
import type { FoundProcess } from "./board-processes.js";
import { asFields, asList, asText, type Fields } from "../../../util/objects.js";
import { readJsonObject } from "../../shared/http/json-body.js";
import { boardJson, boardRoute } from "../server/answers.js";
import { BODY_LIMITS } from "../server/limits.js";
import { withWholeIds } from "./board-process.js";
import { processAnswer, askingPerson, onceOnBoard } from "./process-answers.js";

/** A request to a process. */
interface PassedOffer {
  readonly found: FoundProcess;
  /** The path in the process. */
  readonly path: string;
  /** Returns the part of the answer that users receive. */
  readonly shown?: (body: Fields) => unknown;
}

/** Returns the request and its process. Returns `undefined` for a request to this process. */
type OfferRule = (board: Board, asked: BoardExchange) => PassedOffer | undefined;

const RULES: Readonly<Record<string, OfferRule>> = {
  "GET /api/ensembles/{name}": (board, asked) =>
    namedOffer(board, asked, "/api/ensembles", ({ process, id }) => (body) => ({
      ...body,
      ensemble: {
        ...asFields(body["ensemble"]),
        name: process.wholeId(id),
        process: process.name,
      },
    })),
  "POST /api/ensembles/{name}/explain": (board, asked) =>
    namedOffer(board, asked, "/api/ensembles"),
  "GET /api/conversations/{name}/threads": (board, asked) =>
    namedOffer(board, asked, "/api/conversations", () => (body) => ({
      ...body,
      threads: asList(body["threads"]).map((head) => passedThread(board, head)),
    })),
  "GET /api/conversations/{name}/threads/{threadId}": (board, asked) =>
    namedOffer(board, asked, "/api/conversations", ({ process }) => (body) => ({
      ...body,
      thread: passedThread(board, body["thread"]),
      messages: asList(body["messages"]).map((message) => passedMessage(board, message, process)),
    })),
  "GET /api/panels": panelOf,
  "GET /api/panels/{name}": panelOf,
};

/**
 * Returns a route of ensembles, conversations and panels that sends requests to another process.
 * Ensembles are found by the name `{process}/{name}`, panels by the run.
 */
export function passedOffer(board: Board, route: HttpRoute): HttpRoute {
  const { method, path, role } = route;
  const own = (asked: BoardExchange, request = asked.request): ReturnType<HttpRoute["handle"]> =>
    route.handle(request, asked.principal, asked.parameters);
  if (role === "public") return route;
  if (`${method} ${path}` === "POST /api/runs")
    return boardRoute(method, path, role, (asked) => startInProcess(board, asked, own));
  const rule = RULES[`${method} ${path}`];
  if (rule === undefined) return route;
  return boardRoute(method, path, role, async (asked) => {
    const offer = rule(board, asked);
    return offer === undefined ? own(asked) : answerOffer(board, asked, offer);
  });
}

/** Returns the request for the name in the path, with the rest of the path. */
function namedOffer(
  { processes }: Board,
  { parameters, request }: BoardExchange,
  folder: string,
  shown?: (found: FoundProcess) => PassedOffer["shown"],
): PassedOffer | undefined {
  const found = processes.of(parameters["name"] ?? "");
  if (found === undefined) return undefined;
  const { pathname, search } = new URL(request.url);
  const [, rest = ""] = /\/api\/[a-z]+\/[^/]+(.*)$/.exec(pathname) ?? [];
  const path = `${folder}/${encodeURIComponent(found.id)}${rest}${search}`;
  const view = shown?.(found);
  return { found, path, ...(view !== undefined && { shown: view }) };
}

function panelOf({ processes, settings }: Board, asked: BoardExchange): PassedOffer | undefined {
  const { query, parameters } = asked;
  const found = processes.of(query.get("run") ?? "");
  // Without contents there are no panels.
  if (found === undefined || !settings.contents) return undefined;
  const name = parameters["name"];
  const panel = name === undefined ? "" : `/${encodeURIComponent(name)}`;
  return { found, path: `/api/panels${panel}?run=${encodeURIComponent(found.id)}` };
}

async function answerOffer(
  board: Board,
  asked: BoardExchange,
  { found, path, shown }: PassedOffer,
): Promise<Response> {
  const { request, principal } = asked;
  const isPost = request.method === "POST";
  const body = isPost ? await readJsonObject(request, BODY_LIMITS) : undefined;
  const { status, text } = await found.process.ask({
    user: askingPerson(principal),
    method: isPost ? "POST" : "GET",
    path,
    ...(body !== undefined && { body }),
  });
  const answer = processAnswer(text);
  if (status !== 200) return Response.json(answer, { status });
  const view = shown?.(answer) ?? board.shownValue(answer);
  return boardJson(JSON.stringify(view), request);
}

/** Starts a run in the process of the ensemble. Resolves when the run is on the board. */
async function startInProcess(
  board: Board,
  asked: BoardExchange,
  own: (asked: BoardExchange, request?: Request) => ReturnType<HttpRoute["handle"]>,
): Promise<Response> {
  if (board.processes.ensembles.length === 0) return own(asked);
  const { request, principal } = asked;
  const body = await readJsonObject(request, BODY_LIMITS);
  const found = board.processes.of(asText(body["ensemble"]));
  if (found === undefined) {
    const { url, method, headers } = request;
    return own(asked, new Request(url, { method, headers, body: JSON.stringify(body) }));
  }
  const key = request.headers.get("idempotency-key");
  const { status, text } = await found.process.ask({
    user: askingPerson(principal),
    method: "POST",
    path: "/api/runs",
    body: { ...body, ensemble: found.id },
    ...(key !== null && { key }),
  });
  const answer = withWholeIds(text, found.process.wholeId);
  if (status !== 202) return Response.json(answer, { status });
  const runId = asText(answer["runId"]);
  const ensemble = found.process.wholeId(found.id);
  board.audit.add({ user: principal.name, action: "start", subject: runId, detail: ensemble });
  await onceOnBoard(board, runId);
  return Response.json({ ...answer, ensemble }, { status });
}

function passedThread({ settings }: Board, head: unknown): Fields {
  const { title, ...rest } = asFields(head) ?? {};
  return { ...rest, ...(settings.contents && title !== undefined && { title }) };
}

function passedMessage(
  { settings }: Board,
  message: unknown,
  process: FoundProcess["process"],
): Fields {
  const fields = asFields(message) ?? {};
  const calls = asList(fields["calls"]).map((call) => ({ ...asFields(call), arguments: "" }));
  return {
    ...fields,
    runId: process.wholeId(asText(fields["runId"])),
    ...(!settings.contents && { text: "", ...(calls.length > 0 && { calls }) }),
  };
}
