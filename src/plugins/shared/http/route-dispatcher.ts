import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Authenticate, HttpRoute, Principal } from "../../../contracts/http-route.js";
import type { RequestRefusal } from "./http-gate.js";
import type { FoundRoute } from "./routes.js";
import type { TextRoute } from "./text-route.js";
import { toError } from "../../../util/errors.js";
import { BodyTooLargeError, bodyText, sendResponse, webRequest } from "./http-exchange.js";
import { HttpGate } from "./http-gate.js";
import { checkedPrincipal } from "./principals.js";
import { HttpRefusal } from "./http-refusal.js";
import { isAdmitted, routesOf } from "./routes.js";
import { isTextRoute, sendText } from "./text-route.js";

const METHODS = Object.freeze(["GET", "POST", "PUT", "DELETE", "HEAD"]);
const HAVE_BODIES: ReadonlySet<unknown> = new Set(["POST", "PUT"]);
const UNAUTHORIZED: RequestRefusal = Object.freeze({
  status: 401,
  message: "Unauthorized",
  headers: { "WWW-Authenticate": "Bearer" },
});
const FORBIDDEN: RequestRefusal = Object.freeze({ status: 403, message: "Forbidden" });
const NOT_FOUND: RequestRefusal = Object.freeze({ status: 404, message: "Not found" });

/** The `error` of a JSON refusal without a code. */
const CODES: Readonly<Record<number, string>> = Object.freeze({
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  413: "BODY_TOO_LARGE",
  414: "URL_TOO_LONG",
  429: "TOO_MANY_REQUESTS",
  503: "UNAVAILABLE",
});

type Headings = Readonly<Record<string, string>>;
type AnyRoute = HttpRoute | TextRoute;

/** Options of a dispatcher of requests to routes. */
export interface RouteDispatcherOptions {
  /**
   * The routes, or a function if they change. The first of several routes with the same path is
   * used.
   */
  readonly routes: readonly AnyRoute[] | (() => readonly AnyRoute[]);
  readonly authenticate: Authenticate;
  /** Names in lower case, without port; IPv6 addresses in brackets. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: ReadonlySet<string>;
  readonly maxBodyBytes: number;
  readonly onError: (error: Error) => void;
  /** See `HttpGateOptions`. */
  readonly pagePath?: string | undefined;
  /** Refusals are `{ error, message }` instead of plain text. */
  readonly jsonErrors?: boolean | undefined;
  /** Headers of every answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Maximum number of characters of path and query. Default: the limit of Node.js. */
  readonly maxUrlLength?: number | undefined;
  /** Called for each request without a principal. Its result replaces the 401. */
  readonly onUnauthorized?: ((request: Request) => RequestRefusal | undefined) | undefined;
  /** The last check, for requests whose principal has the role of the route. */
  readonly limit?: ((principal: Principal) => RequestRefusal | undefined) | undefined;
}

/** An admitted request. */
interface Admitted extends FoundRoute<AnyRoute> {
  readonly asked: Request;
  /** Absent on public routes. */
  readonly principal: Principal | undefined;
}

export class RouteDispatcher {
  readonly #options: RouteDispatcherOptions;
  readonly #gate: HttpGate;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: RouteDispatcherOptions) {
    const { allowedHosts, allowedOrigins, pagePath, headers = {} } = options;
    this.#options = options;
    this.#headers = headers;
    this.#gate = new HttpGate({
      allowedHosts,
      allowedOrigins,
      pagePath,
      methods: METHODS,
      requestHeaders: "authorization, content-type, accept, last-event-id",
      responseHeaders: "www-authenticate",
    });
  }

  /** Never throws: a request that fails is answered, or its connection is closed. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers = { ...this.#headers, ...this.#gate.corsHeaders(request.headers.origin) };
    response.on("error", this.#options.onError);
    try {
      const found = await this.#admitted(request, response);
      if ("status" in found) return this.#refuse(response, found, headers);
      if (request.method === "OPTIONS") return void response.writeHead(204, headers).end();
      await this.#answer(found, request, { response, headers });
    } catch (error) {
      if (error instanceof BodyTooLargeError)
        return this.#refuse(response, { status: 413, message: "The body is too large" }, headers);
      if (!response.destroyed) this.#options.onError(toError(error)); // otherwise the client has disconnected
      this.#refuse(response, { status: 500, message: "Internal server error" }, headers);
      if (!response.writableEnded) response.destroy();
    }
  }

  async #answer(
    { route, asked, principal, parameters }: Admitted,
    request: IncomingMessage,
    { response, headers }: { readonly response: ServerResponse; readonly headers: Headings },
  ): Promise<void> {
    const text = HAVE_BODIES.has(request.method)
      ? await bodyText(request, this.#options.maxBodyBytes)
      : undefined;
    if (isTextRoute(route)) {
      const answer = await route.answer(asked, text ?? "", principal);
      if (!(answer instanceof Response)) return sendText(answer, response, headers);
      return sendResponse(answer, response, withoutThose(answer, headers));
    }
    const whole = text === undefined ? asked : new Request(asked, { body: text });
    const answer = await route.handle(whole, principal, parameters);
    return sendResponse(answer, response, withoutThose(answer, headers));
  }

  /** Never throws. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { onError } = this.#options;
    socket.on("error", onError);
    try {
      const found = await this.#admitted(request);
      if ("route" in found && found.route.upgrade !== undefined)
        return await found.route.upgrade(request, socket, head, found.principal);
      const { status, message } = "route" in found ? NOT_FOUND : found;
      socket.end(`HTTP/1.1 ${status} ${message}\r\nConnection: close\r\n\r\n`);
    } catch (error) {
      if (error instanceof HttpRefusal)
        return void socket.end(
          `HTTP/1.1 ${error.status} ${error.message}\r\nConnection: close\r\n\r\n`,
        );
      onError(toError(error));
      socket.destroy();
    }
  }

  /** Returns the route of a request and its principal, or the reason of its refusal. */
  async #admitted(
    request: IncomingMessage,
    response?: ServerResponse,
  ): Promise<Admitted | RequestRefusal> {
    const { routes, maxUrlLength = Number.POSITIVE_INFINITY } = this.#options;
    let candidates: readonly FoundRoute<AnyRoute>[] = [];
    const refusal = this.#gate.refusal(request, (path) => {
      candidates = routesOf(typeof routes === "function" ? routes() : routes, path);
      return candidates.length > 0;
    });
    if (refusal !== undefined) return refusal;
    if ((request.url?.length ?? 0) > maxUrlLength)
      return { status: 414, message: `The URL is longer than ${maxUrlLength} characters` };
    // throws for some requests, which the gate has refused
    const asked = webRequest(request, response);
    const method = request.method === "HEAD" ? "GET" : request.method;
    const isQuestion = request.method === "OPTIONS";
    const found = candidates.find(({ route }) => isQuestion || route.method === method);
    if (found === undefined) {
      const headers = { Allow: candidates.map(({ route }) => route.method).join(", ") };
      return { status: 405, message: "Method not allowed", headers };
    }
    if (found.route.role === "public" || isQuestion)
      return { ...found, asked, principal: undefined }; // a preflight request has no token
    return this.#admittedAs(found, asked);
  }

  async #admittedAs(
    found: FoundRoute<AnyRoute>,
    asked: Request,
  ): Promise<Admitted | RequestRefusal> {
    const { authenticate, onError, onUnauthorized, limit } = this.#options;
    let principal: Principal | undefined;
    try {
      principal = checkedPrincipal(await authenticate(asked));
    } catch (error) {
      onError(toError(error));
    }
    if (principal === undefined) return onUnauthorized?.(asked) ?? UNAUTHORIZED;
    if (!isAdmitted(principal, found.route.role)) return FORBIDDEN;
    return limit?.(principal) ?? { ...found, asked, principal };
  }

  /** Closes the connection, because the rest of the request is not read. */
  #refuse(
    response: ServerResponse,
    { status, message, error, headers }: RequestRefusal,
    more: Readonly<Record<string, string>>,
  ): void {
    if (response.destroyed || response.headersSent) return;
    const isJson = this.#options.jsonErrors === true;
    const body = isJson
      ? JSON.stringify({ error: error ?? CODES[status] ?? "INTERNAL", message })
      : message;
    response
      .writeHead(status, {
        "Content-Type": isJson ? "application/json" : "text/plain",
        Connection: "close",
        ...more,
        ...headers,
      })
      .end(body);
  }
}

/** Returns the headers of all answers, without the headers that this answer sets itself. */
function withoutThose({ headers: own }: Response, headers: Headings): Headings {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !own.has(name)));
}
