import type { HttpRoute } from "../../../contracts/http-route.js";
import type { Service } from "../../../contracts/service.js";
import type { Board } from "../board.js";
import type { BoardStatus } from "../protocol/http-bodies.js";
import type { ServerState } from "./board-routes.js";
import type { BoardLimits } from "./limits.js";
import { messageOf } from "../../../util/errors.js";
import { emitProcessWarning } from "../../../util/process-warning.js";
import { HttpRefusal } from "../../shared/http/http-refusal.js";
import { RouteDispatcher } from "../../shared/http/route-dispatcher.js";
import { routesOf } from "../../shared/http/routes.js";
import { listenFor, type RouteListener } from "../../shared/http/serve-routes.js";
import { BoardAccess } from "./access.js";
import { boardRoutes, boardStatus } from "./board-routes.js";
import { pageRoutes } from "./page-files.js";
import { BoardSockets } from "./sockets.js";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Headers of every answer. */
const HEADERS: Readonly<Record<string, string>> = Object.freeze({
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
});

/** The listener of a service that also serves the board. */
export interface BoardPlace {
  /** Further names in the Host header. */
  readonly allowedHosts: readonly string[];
  /** Further origins of the page. */
  readonly allowedOrigins: readonly string[];
  readonly service: Service;
}

/** The parts of a server. */
interface ServerParts {
  /** The token with which an operator signs in, if the settings have or request one. */
  readonly token: string | undefined;
  readonly limits: BoardLimits;
  /** The listener of a service. Default: the dashboard has its own listener. */
  readonly place?: BoardPlace | undefined;
}

/** Serves a board: page, API and socket, with one access control. */
export class BoardServer implements ServerState {
  readonly dispatcher: RouteDispatcher;
  readonly service: Service | undefined;
  readonly #board: Board;
  readonly #limits: BoardLimits;
  readonly #sockets: BoardSockets;
  readonly #host: string;
  readonly #own: readonly HttpRoute[];
  /** The functions that close the open event streams. */
  readonly #streams = new Set<() => void>();
  #listener: RouteListener | undefined;
  #isDraining = false;

  static async create(board: Board, o: ServerParts): Promise<BoardServer> {
    return new BoardServer(board, o, await pageRoutes(board.settings.basePath));
  }

  private constructor(
    board: Board,
    { token, limits, place }: ServerParts,
    page: readonly HttpRoute[],
  ) {
    const { settings } = board;
    const { audit, clock } = board;
    const access = new BoardAccess(settings, token, { audit, clock, limits });
    this.#board = board;
    this.service = place?.service;
    this.#limits = limits;
    this.#host = settings.host;
    this.#sockets = new BoardSockets(board, { access, limits, onError: reportError });
    this.#own = [...page, ...boardRoutes(board, this), this.#sockets.route()];
    this.dispatcher = new RouteDispatcher({
      // A service serves the routes of plugins itself.
      routes: place === undefined ? () => [...this.#own, ...board.routes] : this.#own,
      authenticate: (request) => access.principalOf(request),
      allowedHosts: [...settings.allowedHosts, ...(place?.allowedHosts ?? [])],
      allowedOrigins: new Set([...settings.allowedOrigins, ...(place?.allowedOrigins ?? [])]),
      maxBodyBytes: limits.bodyBytes,
      maxUrlLength: limits.urlLength,
      onError: reportError,
      pagePath: `${settings.basePath}/`,
      jsonErrors: true,
      headers: HEADERS,
      onUnauthorized: (request) => access.refusalOf(request),
      limit: (principal) => access.limitOf(principal),
    });
  }

  get clients(): number {
    return this.#sockets.size;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** The port of the listener. `undefined` if there is no listener. */
  get port(): number | undefined {
    return this.#listener?.port;
  }

  get status(): BoardStatus {
    return boardStatus(this.#board, this);
  }

  /** Returns whether a path belongs to the page, the API or the socket. */
  serves(path: string): boolean {
    return routesOf(this.#own, path).length > 0;
  }

  readonly openStream = (end: () => void): (() => void) => {
    if (this.#streams.size >= this.#limits.sockets)
      throw new HttpRefusal(503, "TOO_MANY_STREAMS", "Too many streams of events are open");
    const stream = (): void => end();
    this.#streams.add(stream);
    return () => void this.#streams.delete(stream);
  };

  /** Starts to listen, and returns the port. Rejects if the address is not available. */
  async listen(port: number, keepAlive: boolean): Promise<number> {
    this.#listener = await listenFor(this.dispatcher, {
      host: this.#host,
      port,
      receiveMs: this.#limits.receiveMs,
    });
    if (!keepAlive) this.#listener.unref();
    return this.#listener.port;
  }

  /** Sends the reason to the pages, and closes all connections. */
  async close(reason: string): Promise<void> {
    this.#isDraining = true;
    this.#sockets.close(reason);
    for (const end of this.#streams) end();
    await this.#listener?.close();
  }
}

/**
 * Reports an error. Failures of requests have no other report. The disconnection of a client is not
 * a failure.
 */
function reportError(error: unknown): void {
  const { code } = error as { readonly code?: unknown };
  if (code === "ECONNRESET" || code === "EPIPE" || code === "ERR_STREAM_PREMATURE_CLOSE") return;
  emitProcessWarning(`dashboard: a request could not be answered: ${messageOf(error)}`);
}
