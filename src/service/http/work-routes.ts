import type { HttpRoute, Principal } from "../../contracts/http-route.js";
import type { QueueState, WorkRequest, WorkResponse } from "../../contracts/network.js";
import type { Clock, IdGenerator } from "../../contracts/runtime.js";
import type { OpenStreams } from "../../plugins/network/shared/open-streams.js";
import type { CallerQuotas } from "../quotas/caller-quotas.js";
import type { RunningService } from "../running-service.js";
import type { ServiceSettings } from "../service-settings.js";
import type { CallerQueue, CallerReceipt } from "./caller-queue.js";
import { RequestConflictError } from "../../contracts/network-errors.js";
import { isStoredFor, storedIdOf } from "../../plugins/network/shared/stored-ids.js";
import { HttpRefusal, notFoundRefusal } from "../../plugins/shared/http/http-refusal.js";
import { readJsonObject } from "../../plugins/shared/http/json-body.js";
import { firstEnding } from "../../util/abort/timeouts.js";
import { idBehind } from "./operator-routes.js";
import { privateAnswer, notNow, route } from "./routes.js";
import { workRequestIn } from "./work-request-body.js";
import { workStream } from "./work-stream.js";

const WORK = "/api/work";
const RECEIVE_MS = 30_000;
/** The longest wait of a GET for a result, in ms. */
const LONGEST_WAIT_MS = 60_000;

/** The parts that the routes of requests use. */
export interface WorkRoutesParts {
  readonly service: RunningService;
  readonly settings: ServiceSettings;
  readonly queue: CallerQueue;
  /** `undefined` if callers have no quota. */
  readonly quotas: CallerQuotas | undefined;
  /** Whether the service sends results to webhooks. */
  readonly hasWebhooks: boolean;
  readonly ids: Pick<IdGenerator, "next">;
  readonly clock: Clock;
  /** The open streams, including streams of A2A. */
  readonly streams: OpenStreams;
  /** Aborts when the service stops. The abort ends all waits. */
  readonly closing: AbortSignal;
}

/** The routes of callers: requests and their results. */
export class WorkRoutes {
  readonly #parts: WorkRoutesParts;

  constructor(parts: WorkRoutesParts) {
    this.#parts = parts;
  }

  routes(): readonly HttpRoute[] {
    return [
      route("POST", WORK, "caller", (request, principal) =>
        this.#post(request, requirePrincipal(principal)),
      ),
      route("GET", `${WORK}/*`, "caller", (request, principal) =>
        this.#get(request, requirePrincipal(principal)),
      ),
      route("GET", "/api/usage", "caller", (_request, principal) =>
        this.#usage(requirePrincipal(principal)),
      ),
    ];
  }

  async #post(request: Request, principal: Principal): Promise<Response> {
    const { service, settings, ids, queue } = this.#parts;
    if (service.state !== "READY")
      throw notNow(503, "DRAINING", "The service does not accept requests now");
    const maxBodyBytes = settings.maxMessageBytes;
    const body = await readJsonObject(request, { maxBodyBytes, bodyTimeoutMs: RECEIVE_MS });
    const work = workRequestIn(body, {
      headers: request.headers,
      principal,
      capabilities: service.entry().capabilities,
      ensemble: service.name,
      hasWebhooks: this.#parts.hasWebhooks,
      idOf: (key) => storedIdOf(principal.name, key ?? ids.next("request")),
    });
    const { requestId } = work;
    const most = queue.reachedLimit(work);
    if (most !== undefined)
      throw notNow(429, "AT_CAPACITY", `Caller '${principal.name}' has ${most} requests already`);
    const receipt = await this.#enqueue(work);
    const { status } = receipt;
    if (status === "QUOTA")
      throw notNow(429, status, receipt.problem, Math.ceil(receipt.retryAfterMs / 1_000));
    if (status === "FULL") throw notNow(429, "AT_CAPACITY", "Too many requests wait");
    const at = { Location: `${WORK}/${requestId}` };
    return privateAnswer(202, { requestId, status }, at);
  }

  async #enqueue(work: WorkRequest): Promise<CallerReceipt> {
    try {
      return await this.#parts.queue.enqueue(work);
    } catch (error) {
      if (RequestConflictError.isInstance(error))
        throw new HttpRefusal(409, "CONFLICT", "The Idempotency-Key is known with other content");
      throw error;
    }
  }

  /** Returns the rest of the caller's quota. */
  async #usage({ name }: Principal): Promise<Response> {
    const state = await this.#parts.quotas?.stateOf(name);
    if (state === undefined) throw notFoundRefusal("NO_QUOTA", `Caller '${name}' has no quota`);
    return privateAnswer(200, { caller: name, ...state });
  }

  async #get(request: Request, principal: Principal): Promise<Response> {
    const { service } = this.#parts;
    const requestId = idBehind(request, `${WORK}/`);
    if (!mayRead(requestId, principal)) throw unknownRequest(requestId);
    const { queue, results } = service.backend;
    const known = await results.retrieve(requestId);
    const status = known === undefined ? await queue.status(service.name, requestId) : "DONE";
    if (status === undefined) throw unknownRequest(requestId);
    if (request.headers.get("accept")?.includes("text/event-stream") === true)
      return this.#streamed(request, principal, { requestId, status });
    if (known !== undefined) return privateAnswer(200, known);
    const response = await this.#awaited(request, requestId);
    return response === undefined
      ? privateAnswer(202, { requestId, status })
      : privateAnswer(200, response);
  }

  /** Follows a request until its result. */
  async #streamed(
    { signal }: Request,
    { name }: Principal,
    { requestId, status }: { readonly requestId: string; readonly status: QueueState },
  ): Promise<Response> {
    const { service, streams, clock } = this.#parts;
    const ended = streams.open(name);
    if (ended === undefined)
      throw notNow(429, "TOO_MANY_STREAMS", `Caller '${name}' has ${streams.most} open streams`);
    try {
      const place = { ensemble: service.name, backend: service.backend, clock };
      return await workStream(place, requestId, { status, signal, ended });
    } catch (error) {
      ended();
      throw error;
    }
  }

  /** Waits for the result up to `waitMs` of the URL. */
  async #awaited(request: Request, requestId: string): Promise<WorkResponse | undefined> {
    const given = Number(new URL(request.url).searchParams.get("waitMs") ?? 0);
    if (!(given >= 0)) throw new HttpRefusal(400, "BAD_REQUEST", "waitMs must be a number >= 0");
    if (given === 0) return undefined;
    const timeoutMs = Math.min(given, LONGEST_WAIT_MS);
    const signal = AbortSignal.any([request.signal, this.#parts.closing]);
    let response: WorkResponse | undefined;
    let hasLeft = false;
    let leave: () => void = () => undefined;
    const stored = new Promise<void>((resolve, reject) => {
      const { results } = this.#parts.service.backend;
      const got = (result: WorkResponse): void => {
        response = result;
        resolve();
      };
      results.subscribe(requestId, got).then((end) => {
        if (hasLeft) end();
        else leave = end;
      }, reject);
    });
    await firstEnding(stored, { timeoutMs, signal });
    hasLeft = true;
    leave();
    return response;
  }
}

/** Routes of callers always have a principal. */
function requirePrincipal(principal: Principal | undefined): Principal {
  if (principal === undefined) throw new HttpRefusal(401, "UNAUTHORIZED", "A token is required");
  return principal;
}

function mayRead(requestId: string, { name, role }: Principal): boolean {
  return role === "operator" || isStoredFor(name, requestId);
}

function unknownRequest(requestId: string): HttpRefusal {
  return notFoundRefusal("UNKNOWN", `There is no request '${requestId}'`);
}
