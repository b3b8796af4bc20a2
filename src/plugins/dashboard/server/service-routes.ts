import type { HttpRoute } from "../../../contracts/http-route.js";
import type { QueueDepth } from "../../../contracts/network.js";
import type { Service } from "../../../contracts/service.js";
import type { Board } from "../board.js";
import type {
  DeadLettersBody,
  RedrivenBody,
  ServiceInfo,
  ServiceListBody,
} from "../protocol/control-bodies.js";
import type { BoardExchange } from "./answers.js";
import { checkOptions, requireText } from "../../../contracts/validation.js";
import { withTimeout } from "../../../util/abort/timeouts.js";
import { messageOf } from "../../../util/errors.js";
import { asText } from "../../../util/objects.js";
import { HttpRefusal, notFoundRefusal } from "../../shared/http/http-refusal.js";
import { readJsonObject } from "../../shared/http/json-body.js";
import { boardJson, boardRoute } from "./answers.js";
import { BODY_LIMITS } from "./limits.js";

/** Time limit of the storage of requests, in milliseconds. */
const STORAGE_MS = 10_000;

/** Returns the routes of the services of this process. */
export function serviceRoutes(board: Board): readonly HttpRoute[] {
  const one = "/api/services/{name}";
  return [
    boardRoute("GET", "/api/services", "viewer", (asked) => listServices(board, asked)),
    boardRoute("GET", `${one}/dead`, "operator", (asked) => listDeadLetters(board, asked)),
    boardRoute("POST", `${one}/redrive`, "operator", (asked) => redriveLetter(board, asked)),
  ];
}

async function listServices(board: Board, { request }: BoardExchange): Promise<Response> {
  const services = await Promise.all(board.services.map(serviceInfo));
  const body: ServiceListBody = { services };
  return boardJson(JSON.stringify(board.shownValue(body)), request);
}

async function serviceInfo(service: Service): Promise<ServiceInfo> {
  const { name, instance, state, url, backend } = service;
  let depth: QueueDepth | undefined;
  let problem: string | undefined;
  try {
    ({ depth } = await storageAnswer(() => service.stats()));
  } catch (error) {
    problem = messageOf(error);
  }
  const requests = service.requests();
  return {
    name,
    instance,
    state,
    ...(url !== undefined && { url }),
    backend: backend.name,
    running: requests.length,
    ...(depth !== undefined && { depth }),
    ...(problem !== undefined && { problem }),
    shared: service.entry().capabilities.map(({ name: shared, type, description }) => ({
      name: shared,
      type,
      description,
    })),
    requests,
    schedules: service.schedules(),
  };
}

/** Calls the storage. @throws HttpRefusal 503 if the storage fails or does not respond in time */
async function storageAnswer<T>(work: () => Promise<T>): Promise<T> {
  try {
    const late = (): never => {
      throw new Error(`no answer within ${STORAGE_MS} ms`);
    };
    return await withTimeout(work, { ms: STORAGE_MS, late });
  } catch (error) {
    throw new HttpRefusal(
      503,
      "STORE_UNAVAILABLE",
      `The storage of requests failed: ${messageOf(error)}`,
      { headers: { "Retry-After": "5" } },
    );
  }
}

/** @throws HttpRefusal 404 */
function namedService({ services }: Board, { parameters }: BoardExchange): Service {
  const service = services.find(({ name }) => name === parameters["name"]);
  if (service !== undefined) return service;
  throw notFoundRefusal("SERVICE_NOT_FOUND", "This process has no such service");
}

async function listDeadLetters(board: Board, asked: BoardExchange): Promise<Response> {
  const service = namedService(board, asked);
  const deadLetters = await storageAnswer(() => service.deadLetters());
  const body: DeadLettersBody = { deadLetters };
  const shown = board.shownValue(body, { hidesFields: true });
  return boardJson(JSON.stringify(shown), asked.request);
}

async function redriveLetter(board: Board, asked: BoardExchange): Promise<Response> {
  const body = await readJsonObject(asked.request, BODY_LIMITS);
  checkOptions("The body", body, ["requestId"]);
  requireText(body["requestId"], "requestId must not be blank");
  const requestId = asText(body["requestId"]);
  const service = namedService(board, asked);
  if (!(await storageAnswer(() => service.redrive(requestId))))
    throw notFoundRefusal("DEAD_LETTER_NOT_FOUND", "There is no dead letter with this id");
  const { name } = asked.principal;
  board.audit.add({ user: name, action: "redrive", subject: requestId, detail: service.name });
  return Response.json({ requestId, status: "QUEUED" } satisfies RedrivenBody, { status: 202 });
}
