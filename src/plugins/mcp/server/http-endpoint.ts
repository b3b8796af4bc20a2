import { setImmediate as nextTurn } from "node:timers/promises";
import type { Server } from "@modelcontextprotocol/server";
import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { CallDispatcher } from "./call-dispatcher.js";
import type { RpcRefusal } from "./send-refusal.js";
import type { ResolvedHttpOptions } from "./mcp-server-options.js";
import type { Sdk } from "./sdk.js";
import type { McpHttpEndpoint } from "./types.js";
import { createServer as createHttpServer } from "node:http";

import { McpError } from "../../../contracts/state-errors.js";
import {
  BodyTooLargeError,
  bodyText,
  sendResponse,
  webRequest,
} from "../../shared/http/http-exchange.js";
import { HttpGate } from "../../shared/http/http-gate.js";
import { MessageGuard, RefusedMessage } from "../shared/message-guard.js";
import { sendRefusal } from "./send-refusal.js";
import { HttpSessions } from "./http-sessions.js";
import { messageOf, toError } from "../../../util/errors.js";

/** Time limit in milliseconds for receiving a whole request. */
const RECEIVE_MS = 30_000;
const NOT_JSON: RpcRefusal = Object.freeze({
  status: 415,
  message: "Unsupported Media Type: Content-Type must be application/json",
});
const UNREADABLE: RpcRefusal = Object.freeze({
  status: 400,
  message: "Parse error: the body is not valid JSON",
  code: -32_700,
});

/** Methods, headers and media types of the protocol. */
const PROTOCOL = Object.freeze({
  methods: Object.freeze(["GET", "POST", "DELETE"]),
  requestHeaders:
    "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id",
  responseHeaders: "mcp-session-id, mcp-protocol-version, www-authenticate",
});

/** What an endpoint needs to serve. */
export interface EndpointParts {
  readonly sdk: Sdk;
  readonly dispatcher: CallDispatcher;
  readonly createServer: () => Server;
  readonly maxMessageBytes: number;
  /** Name of the server in errors. */
  readonly name: string;
  readonly onError: (error: Error) => void;
}

/**
 * Starts to listen.
 * @throws McpError if the address is not available
 */
export async function listen(
  parts: EndpointParts,
  options: ResolvedHttpOptions,
): Promise<McpHttpEndpoint> {
  const exchanges = new Exchanges(parts, options);
  const http = createHttpServer(
    { requestTimeout: RECEIVE_MS },
    (request, response) => void exchanges.handle(request, response),
  );
  http.on("clientError", (error, socket) => {
    parts.onError(error);
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  });
  await listening(http, options, parts.name);
  // the server listens on a port, so this is not the path of a pipe
  const { port } = http.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${options.urlHost}:${port}${options.path}`,
    close: () => (closing ??= shutDown(http, exchanges, parts.dispatcher)),
  };
}

function listening(
  http: HttpServer,
  { host, port }: ResolvedHttpOptions,
  name: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once("error", (cause) => {
      const message = `The MCP server can't listen on ${host}, port ${port}: ${messageOf(cause)}`;
      reject(
        new McpError(message, name, {
          cause,
          hint: "Choose another port, or leave it out for one that is free.",
        }),
      );
    });
    http.listen({ host, port, exclusive: true }, resolve);
  });
}

/**
 * Ends the calls first, so that clients still receive their errors. Then closes the connections.
 */
async function shutDown(
  http: HttpServer,
  exchanges: Exchanges,
  dispatcher: CallDispatcher,
): Promise<void> {
  const closed = new Promise<void>((resolve) => http.close(() => resolve()));
  await dispatcher.close();
  await nextTurn();
  await exchanges.close();
  http.closeAllConnections();
  await closed;
}

/**
 * Passes requests to the handler of their protocol revision. Revisions since 2026 are stateless.
 * Earlier revisions use sessions.
 */
class Exchanges {
  readonly #parts: EndpointParts;
  readonly #path: string;
  readonly #gate: HttpGate;
  readonly #sessions: HttpSessions;
  readonly #modern: ReturnType<Sdk["createMcpHandler"]>;
  #closed = false;

  constructor(parts: EndpointParts, options: ResolvedHttpOptions) {
    const { sdk, createServer, maxMessageBytes, onError } = parts;
    const { maxSessions, sessionIdleMs } = options;
    this.#parts = parts;
    this.#path = options.path;
    this.#gate = new HttpGate({ ...PROTOCOL, ...options });
    this.#sessions = new HttpSessions(
      sdk,
      createServer,
      { maxSessions, sessionIdleMs, maxMessageBytes },
      onError,
    );
    this.#modern = sdk.createMcpHandler(createServer, {
      legacy: "reject",
      maxRequestBodySize: maxMessageBytes,
      onerror: onError,
    });
  }

  /** Never rejects. A request that fails gets an error response, or its connection is closed. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", this.#parts.onError);
    try {
      await this.#handle(request, response);
    } catch (error) {
      // a destroyed response means that the client has disconnected
      if (!response.destroyed) this.#parts.onError(toError(error));
      sendRefusal(response, { status: 500, message: "Internal server error", code: -32_603 });
      if (!response.writableEnded) response.destroy();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.#sessions.close(), this.#modern.close()]);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const cors = this.#gate.corsHeaders(request.headers.origin);
    const refusal = this.#gate.refusal(request, (path) => path === this.#path);
    if (refusal !== undefined) return sendRefusal(response, refusal, cors);
    if (this.#closed)
      return sendRefusal(response, { status: 503, message: "The server is closing" }, cors);
    if (request.method === "OPTIONS") return void response.writeHead(204, { ...cors }).end();
    const asked = webRequest(request, response);
    const body = await this.#body(request, response, cors);
    if (body === "refused") return;
    const legacy = await this.#parts.sdk.isLegacyRequest(asked, body?.parsed);
    if (!legacy)
      return sendResponse(
        await this.#modern.fetch(asked, body === undefined ? {} : { parsedBody: body.parsed }),
        response,
        cors,
      );
    const { response: answer, answered } = await this.#sessions.handle(asked, body?.parsed);
    try {
      await sendResponse(answer, response, cors);
    } finally {
      answered();
    }
  }

  async #body(
    request: IncomingMessage,
    response: ServerResponse,
    cors: Readonly<Record<string, string>>,
  ): Promise<{ readonly parsed: unknown } | undefined | "refused"> {
    if (request.method !== "POST") return undefined;
    const { maxMessageBytes, sdk } = this.#parts;
    try {
      if (!sdk.isJsonContentType(request.headers["content-type"] ?? null)) {
        sendRefusal(response, NOT_JSON, cors);
        return "refused";
      }
      // the dispatcher limits the depth of arguments
      const guard = new MessageGuard(maxMessageBytes, "body", Infinity);
      const text = await bodyText(request, maxMessageBytes, (chunk) => guard.scan(chunk));
      return { parsed: JSON.parse(text) as unknown };
    } catch (error) {
      if (error instanceof BodyTooLargeError) {
        const message = `The body is larger than ${maxMessageBytes} bytes`;
        sendRefusal(response, { status: 413, message }, cors);
      } else if (error instanceof RefusedMessage) {
        const message = `The body is refused: ${error.message}`;
        sendRefusal(response, { status: 413, message }, cors);
      } else if (error instanceof SyntaxError) sendRefusal(response, UNREADABLE, cors);
      else throw error;
      return "refused";
    }
  }
}
