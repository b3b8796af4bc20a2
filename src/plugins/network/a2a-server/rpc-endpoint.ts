import type { Principal } from "../../../contracts/http-route.js";
import type { TraceContext } from "../../../contracts/propagation.js";
import type { A2aErrorVendor, A2aServerVendor } from "../shared/a2a/protocol.js";
import type { Fields } from "../../../util/objects.js";
import type { TextAnswer } from "../../shared/http/text-route.js";
import type { RequestDesk } from "./caller-requests.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { toError } from "../../../util/errors.js";
import { parseWithoutRefusedKeys } from "../../../util/json/refused-keys.js";
import { JsonScanner } from "../../../util/json/scanner.js";
import { asFields, asText, isObject } from "../../../util/objects.js";
import { jsonText } from "../../shared/http/text-route.js";
import {
  A2A_VERSION,
  EXTENSIONS_HEADER,
  VERSION_HEADER,
  WORK_EXTENSION,
  loadA2aServer,
} from "../shared/a2a/protocol.js";
import { CallerRequests } from "./caller-requests.js";
import type { OpenStreams } from "../shared/open-streams.js";
import { eventStream } from "../shared/event-stream.js";

/** Maximum nesting of objects and lists in a request. */
const MOST_LEVELS = 500;
/** Seconds after which a client should retry. */
const RETRY_SECONDS = "1";
const STREAMING: ReadonlySet<unknown> = new Set(["SendStreamingMessage", "SubscribeToTask"]);
const SENDING: ReadonlySet<unknown> = new Set(["SendMessage", "SendStreamingMessage"]);

/** Codes of JSON-RPC errors. */
const CODES = Object.freeze({
  parse: -32_700,
  invalidRequest: -32_600,
  invalidParams: -32_602,
  internal: -32_603,
  contentType: -32_005,
  version: -32_009,
});

/** Further settings of the endpoint. */
export interface EndpointSettings {
  readonly isDraining: () => boolean;
  readonly streams: OpenStreams;
  readonly onError: (error: Error) => void;
}

type Rpc = Fields & { readonly method: string };

/** The JSON-RPC endpoint. Never answers 500. Internal failures are JSON-RPC errors, or 503. */
export class RpcEndpoint {
  readonly #desk: RequestDesk;
  readonly #settings: EndpointSettings;
  #vendor: ReturnType<typeof loadA2aServer> | undefined;

  constructor(desk: RequestDesk, settings: EndpointSettings) {
    this.#desk = desk;
    this.#settings = settings;
  }

  /** Answers a request whose body is `text`. */
  async handle(
    request: Request,
    text: string,
    principal: Principal,
  ): Promise<TextAnswer | Response> {
    const type = request.headers.get("content-type") ?? "";
    if (!/^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i.test(type))
      return rpcRefusal(null, CODES.contentType, "The Content-Type must be application/json", {
        status: 415,
      });
    const body = parsedBody(text);
    if ("problem" in body) return rpcRefusal(null, body.code, body.problem);
    const { rpc } = body;
    const version = request.headers.get(VERSION_HEADER) ?? "";
    if (version !== A2A_VERSION)
      return rpcRefusal(rpcIdOf(rpc), CODES.version, versionProblem(version));
    if (this.#settings.isDraining() && startsWork(rpc)) return unavailable(rpc, "The service ends");
    return STREAMING.has(rpc.method)
      ? this.#streamed(rpc, request, principal)
      : this.#answered(rpc, request, principal);
  }

  /** Loads the package of the protocol on first use. */
  #loaded(): ReturnType<typeof loadA2aServer> {
    return (this.#vendor ??= loadA2aServer());
  }

  async #answered(rpc: Rpc, request: Request, principal: Principal): Promise<TextAnswer> {
    const vendor = await this.#loaded();
    const requests = this.#requestsOf(request, principal, { vendor, signal: request.signal });
    const handler = new vendor.JsonRpcTransportHandler(requests);
    const answer = await handler.handle(rpc, callContextOf(vendor));
    return this.#answer(rpc, request, { answer, failure: requests.failure });
  }

  async #streamed(
    rpc: Rpc,
    request: Request,
    principal: Principal,
  ): Promise<TextAnswer | Response> {
    const { streams } = this.#settings;
    const closeStream = streams.open(principal.name);
    if (closeStream === undefined)
      return rpcRefusal(rpcIdOf(rpc), CODES.internal, `${streams.most} streams are open`, {
        status: 429,
        headers: { "Retry-After": RETRY_SECONDS },
      });
    const left = new AbortController();
    const leave = (): void => left.abort(LEFT);
    request.signal.addEventListener("abort", leave, { once: true });
    let isOver = false;
    const ended = (): void => {
      if (isOver) return;
      isOver = true;
      leave();
      request.signal.removeEventListener("abort", leave);
      closeStream();
    };
    try {
      const answer = await this.#stream(rpc, request, { principal, signal: left.signal, ended });
      if (!(answer instanceof Response)) ended();
      return answer;
    } catch (error) {
      ended();
      throw error;
    }
  }

  /** Returns the stream, or the error before its first event. */
  async #stream(
    rpc: Rpc,
    request: Request,
    o: { readonly principal: Principal; readonly signal: AbortSignal; readonly ended: () => void },
  ): Promise<TextAnswer | Response> {
    const vendor = await this.#loaded();
    const requests = this.#requestsOf(request, o.principal, { vendor, signal: o.signal });
    const { JsonRpcTransportHandler } = vendor;
    const answer = await new JsonRpcTransportHandler(requests).handle(rpc, callContextOf(vendor));
    if (!(Symbol.asyncIterator in answer))
      return this.#answer(rpc, request, { answer, failure: requests.failure });
    const events = answer[Symbol.asyncIterator]();
    const failed = (error: unknown): Fields => {
      if (requests.failure !== undefined) this.#settings.onError(toError(requests.failure));
      const shown = requests.failure === undefined ? toJsonRpcError(vendor, error) : INTERNAL;
      return { jsonrpc: "2.0", id: rpcIdOf(rpc), error: shown };
    };
    let first: IteratorResult<unknown>;
    try {
      first = await events.next();
    } catch (error) {
      if (requests.failure === undefined) return jsonText(failed(error), { headers: HEADERS });
      return this.#failed(rpc, requests.failure);
    }
    const ended = (): void => {
      o.ended();
      // The iterator may wait at an event that is not read.
      events.return?.(undefined).catch(() => undefined);
    };
    const source = { events: startingWith(first, events), failed, ended };
    return new Response(eventStream(source, this.#desk.clock), {
      headers: { ...HEADERS, "Content-Type": "text/event-stream", ...activated(request) },
    });
  }

  #requestsOf(
    request: Request,
    principal: Principal,
    { vendor, signal }: { readonly vendor: A2aErrorVendor; readonly signal: AbortSignal },
  ): CallerRequests {
    const hasExtension = requestsExtension(request);
    const asked = { principal, signal, traceContext: traceHeadersOf(request), hasExtension };
    return new CallerRequests(this.#desk, asked, vendor);
  }

  #answer(
    rpc: Rpc,
    request: Request,
    { answer, failure }: { readonly answer: unknown; readonly failure: unknown },
  ): TextAnswer {
    if (failure !== undefined) return this.#failed(rpc, failure);
    if (asFields(asFields(answer)?.["error"])?.["code"] === CODES.internal)
      // The SDK could not parse the parameters.
      return rpcRefusal(rpcIdOf(rpc), CODES.invalidParams, "Invalid parameters");
    return jsonText(answer, { headers: { ...HEADERS, ...activated(request) } });
  }

  /** Returns the answer to a request with an internal failure. Clients may repeat it. */
  #failed(rpc: Rpc, failure: unknown): TextAnswer {
    this.#settings.onError(toError(failure));
    if (failure instanceof NetworkError)
      return unavailable(rpc, "The service can't reach its queue");
    return rpcRefusal(rpcIdOf(rpc), CODES.internal, INTERNAL.message);
  }
}

/**
 * The reason of a stream that is not read any more. It is one shared error, because it is never
 * shown.
 */
const LEFT = Object.freeze(new Error("The stream has ended"));
const INTERNAL = Object.freeze({ code: CODES.internal, message: "Internal error" });
const HEADERS = Object.freeze({
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
});

function parsedBody(
  text: string,
): { readonly rpc: Rpc } | { readonly code: number; readonly problem: string } {
  const scanner = new JsonScanner();
  for (let i = 0; i < text.length; i++) scanner.scan(text.charCodeAt(i));
  if (scanner.deepest > MOST_LEVELS)
    return { code: CODES.invalidRequest, problem: `Nested deeper than ${MOST_LEVELS} levels` };
  let body: unknown;
  try {
    body = parseWithoutRefusedKeys(text);
  } catch (error) {
    const isSyntax = error instanceof SyntaxError;
    const problem = isSyntax ? "The body is not valid JSON" : toError(error).message;
    return { code: isSyntax ? CODES.parse : CODES.invalidRequest, problem };
  }
  if (!isObject(body) || typeof body["method"] !== "string")
    return { code: CODES.invalidRequest, problem: "The body is not one JSON-RPC request" };
  return { rpc: { ...body, method: body["method"] } };
}

function versionProblem(version: string): string {
  const asked = version === "" ? "0.3 (no A2A-Version header)" : version.slice(0, 20);
  return `This agent supports A2A ${A2A_VERSION}, but the request has version ${asked}. Send the header 'A2A-Version: ${A2A_VERSION}', or use a client for A2A ${A2A_VERSION}.`;
}

/** Returns whether a request may start work. An answer to a review does not. */
function startsWork({ method, params }: Rpc): boolean {
  if (!SENDING.has(method)) return false;
  const message = asFields(asFields(params)?.["message"]);
  return asText(message?.["taskId"] ?? message?.["task_id"]) === "";
}

function rpcIdOf({ id }: Fields): unknown {
  return typeof id === "string" || typeof id === "number" ? id : null;
}

function rpcRefusal(
  id: unknown,
  code: number,
  message: string,
  init: Partial<TextAnswer> = {},
): TextAnswer {
  const body = { jsonrpc: "2.0", id, error: { code, message } };
  return jsonText(body, { ...init, headers: { ...HEADERS, ...init.headers } });
}

function unavailable(rpc: Rpc, message: string): TextAnswer {
  return rpcRefusal(rpcIdOf(rpc), CODES.internal, message, {
    status: 503,
    headers: { "Retry-After": RETRY_SECONDS },
  });
}

function requestsExtension(request: Request): boolean {
  const names = request.headers.get(EXTENSIONS_HEADER) ?? "";
  return names.split(",").some((name) => name.trim() === WORK_EXTENSION);
}

function activated(request: Request): Record<string, string> {
  return requestsExtension(request) ? { [EXTENSIONS_HEADER]: WORK_EXTENSION } : {};
}

function traceHeadersOf({ headers }: Request): TraceContext | undefined {
  const traceparent = headers.get("traceparent");
  const tracestate = headers.get("tracestate");
  if (traceparent === null || !/^[0-9a-f-]{55,200}$/.test(traceparent)) return undefined;
  return tracestate === null || tracestate.length > 512
    ? { traceparent }
    : { traceparent, tracestate };
}

function callContextOf({
  ServerCallContext,
}: A2aServerVendor): InstanceType<typeof ServerCallContext> {
  return new ServerCallContext({ requestedVersion: A2A_VERSION });
}

function toJsonRpcError(vendor: A2aErrorVendor, error: unknown): Fields {
  return vendor.toJsonRpcError(error);
}

async function* startingWith(
  first: IteratorResult<unknown>,
  rest: AsyncIterator<unknown>,
): AsyncGenerator {
  for (let result = first; result.done !== true; result = await rest.next()) yield result.value;
}
