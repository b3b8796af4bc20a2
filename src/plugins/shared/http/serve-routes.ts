import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "node:http";
import { startTimer } from "../../../util/abort/timer.js";
import { codeOf } from "../../../util/objects.js";
import { RouteDispatcher, type RouteDispatcherOptions } from "./route-dispatcher.js";

/** Time limit in milliseconds for sending a complete request. */
const RECEIVE_MS = 30_000;
/** Maximum number of open connections. Further connections are closed at once. */
const MOST_CONNECTIONS = 2_000;
/** Status lines for messages that are not HTTP requests, by the code of the error. Default: 400. */
const MALFORMED: ReadonlyMap<unknown, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
]);

/** Options of a listener of routes. */
export interface RouteListenerOptions extends RouteDispatcherOptions {
  readonly host: string;
  readonly port: number;
  /**
   * Time limit in milliseconds for sending the headers and the complete request. Default 30,000.
   */
  readonly receiveMs?: number | undefined;
  /** Maximum number of open connections. Default 2,000. */
  readonly maxConnections?: number | undefined;
  /** Whether no other process of a `node:cluster` uses the port. Default true. */
  readonly exclusive?: boolean | undefined;
}

/** A listener that serves routes. */
export interface RouteListener {
  readonly port: number;
  /**
   * Lets the process end even if the listener and its connections are open. Upgraded connections
   * are not changed.
   */
  unref(): void;
  /** Closes all connections. Answers in progress have `graceMs` milliseconds to end. Default 0. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Serves routes behind one gate. The gate checks host, origin, authentication, role, and the size
 * and time of the body. Rejects if the address is not available.
 */
export function serveRoutes(options: RouteListenerOptions): Promise<RouteListener> {
  return listenFor(new RouteDispatcher(options), options);
}

/** Like `serveRoutes`, with a dispatcher that another server also uses. */
export async function listenFor(
  dispatcher: Pick<RouteDispatcher, "handle" | "upgrade">,
  options: Omit<RouteListenerOptions, keyof RouteDispatcherOptions>,
): Promise<RouteListener> {
  const { host, port: wanted, receiveMs = RECEIVE_MS, exclusive = true } = options;
  const { maxConnections = MOST_CONNECTIONS } = options;
  const http = createServer(
    {
      requestTimeout: receiveMs,
      headersTimeout: receiveMs,
      connectionsCheckingInterval: Math.min(receiveMs, RECEIVE_MS),
    },
    (request, response) => void dispatcher.handle(request, response),
  );
  http.on("upgrade", (request, socket, head) => void dispatcher.upgrade(request, socket, head));
  http.maxConnections = maxConnections;
  http.on("clientError", (error, socket) => {
    // Not reported, because every client that can connect could fill the log.
    const status = MALFORMED.get(codeOf(error)) ?? "400 Bad Request";
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
  });
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen({ host, port: wanted, exclusive }, resolve);
  });
  const { port } = http.address() as AddressInfo; // a listener on a port, not on a pipe
  return {
    port,
    unref() {
      http.unref();
      http.on("connection", (socket) => socket.unref());
    },
    close: (graceMs = 0) => closed(http, graceMs),
  };
}

function closed(http: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cutOff = (): void => http.closeAllConnections();
    const stop = graceMs > 0 ? startTimer(graceMs, cutOff) : undefined;
    http.close(() => {
      stop?.();
      resolve();
    });
    if (stop === undefined) cutOff();
  });
}
