import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Authenticate, HttpRoute, Principal } from "../../../contracts/http-route.js";
import type { RequestRefusal } from "./http-gate.js";
import { createServer } from "node:http";
import { toError } from "../../../util/errors.js";
import { BodyTooLargeError, bodyText, sendResponse, webRequest } from "./http-exchange.js";
import { HttpGate } from "./http-gate.js";
import { isAdmitted, routesOf } from "./routes.js";

/** Time for a client to send a whole request. */
const RECEIVE_MS = 30_000;
const METHODS = Object.freeze(["GET", "POST", "PUT", "DELETE", "HEAD"]);
const UNAUTHORIZED: RequestRefusal = Object.freeze({
  status: 401,
  message: "Unauthorized",
  headers: { "WWW-Authenticate": "Bearer" },
});
const FORBIDDEN: RequestRefusal = Object.freeze({ status: 403, message: "Forbidden" });
const NOT_FOUND: RequestRefusal = Object.freeze({ status: 404, message: "Not found" });

/** What a listener of routes is made of. */
export interface RouteListenerOptions {
  readonly routes: readonly HttpRoute[];
  readonly authenticate: Authenticate;
  readonly host: string;
  readonly port: number;
  /** Names in small letters, without port; IPv6 addresses in brackets. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: ReadonlySet<string>;
  readonly maxBodyBytes: number;
  readonly onError: (error: Error) => void;
}

/** A request that may be answered. */
interface Admitted {
  readonly route: HttpRoute;
  readonly asked: Request;
  /** Absent on public routes. */
  readonly principal: Principal | undefined;
}

/** A listener that serves routes. */
export interface RouteListener {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves routes behind one gate: host, origin, who asks and its role, size and time of the body. Rejects where the address can't be had. */
export async function serveRoutes(options: RouteListenerOptions): Promise<RouteListener> {
  const dispatcher = new RouteDispatcher(options);
  const http = createServer(
    { requestTimeout: RECEIVE_MS },
    (request, response) => void dispatcher.handle(request, response),
  );
  http.on("upgrade", (request, socket, head) => void dispatcher.upgrade(request, socket, head));
  http.on("clientError", (error, socket) => {
    options.onError(error);
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  });
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen({ host: options.host, port: options.port, exclusive: true }, resolve);
  });
  const { port } = http.address() as AddressInfo; // it listens on a port, not on a pipe
  return { port, close: () => closed(http) };
}

function closed(http: Server): Promise<void> {
  return new Promise((resolve) => {
    http.close(() => resolve());
    http.closeAllConnections();
  });
}

/** Takes requests to their routes. */
class RouteDispatcher {
  readonly #options: RouteListenerOptions;
  readonly #gate: HttpGate;

  constructor(options: RouteListenerOptions) {
    const { allowedHosts, allowedOrigins } = options;
    this.#options = options;
    this.#gate = new HttpGate({
      allowedHosts,
      allowedOrigins,
      methods: METHODS,
      requestHeaders: "authorization, content-type, accept, last-event-id",
      responseHeaders: "www-authenticate",
    });
  }

  /** Never throws: a request that breaks is answered, or its connection is closed. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const cors = this.#gate.corsHeaders(request.headers.origin);
    response.on("error", this.#options.onError);
    try {
      const found = await this.#admitted(request, response);
      if ("status" in found) return refuse(response, found, cors);
      if (request.method === "OPTIONS") return void response.writeHead(204, { ...cors }).end();
      const whole = await this.#withBody(request, found.asked);
      await sendResponse(await found.route.handle(whole, found.principal), response, cors);
    } catch (error) {
      if (error instanceof BodyTooLargeError)
        return refuse(response, { status: 413, message: "The body is too large" }, cors);
      if (!response.destroyed) this.#options.onError(toError(error)); // otherwise it broke because the client is gone
      refuse(response, { status: 500, message: "Internal server error" }, cors);
      if (!response.writableEnded) response.destroy();
    }
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
      onError(toError(error));
      socket.destroy();
    }
  }

  /** The route of a request and who asks; or why it goes no further. */
  async #admitted(
    request: IncomingMessage,
    response?: ServerResponse,
  ): Promise<Admitted | RequestRefusal> {
    const { routes, authenticate, onError } = this.#options;
    let candidates: readonly HttpRoute[] = [];
    const refusal = this.#gate.refusal(request, (path) => {
      candidates = routesOf(routes, path);
      return candidates.length > 0;
    });
    if (refusal !== undefined) return refusal;
    const asked = webRequest(request, response); // what the gate refuses may have no such form
    const method = request.method === "HEAD" ? "GET" : request.method;
    const route = candidates.find((one) => request.method === "OPTIONS" || one.method === method);
    if (route === undefined) {
      const headers = { Allow: candidates.map((one) => one.method).join(", ") };
      return { status: 405, message: "Method not allowed", headers };
    }
    if (route.role === "public" || request.method === "OPTIONS")
      return { route, asked, principal: undefined }; // a browser's question carries no token
    let principal: Principal | undefined;
    try {
      principal = await authenticate(asked);
    } catch (error) {
      onError(toError(error));
    }
    if (principal === undefined) return UNAUTHORIZED;
    return isAdmitted(principal, route.role) ? { route, asked, principal } : FORBIDDEN;
  }

  async #withBody(request: IncomingMessage, asked: Request): Promise<Request> {
    if (request.method !== "POST" && request.method !== "PUT") return asked;
    return new Request(asked, { body: await bodyText(request, this.#options.maxBodyBytes) });
  }
}

/** What is left of the request is not read, so the connection can't be used again. */
function refuse(
  response: ServerResponse,
  { status, message, headers }: RequestRefusal,
  cors: Readonly<Record<string, string>>,
): void {
  if (response.destroyed || response.headersSent) return;
  response
    .writeHead(status, { "Content-Type": "text/plain", Connection: "close", ...cors, ...headers })
    .end(message);
}
