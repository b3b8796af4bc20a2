import type { HttpRoute } from "../../../contracts/http-route.js";
import type { Board } from "../board.js";
import type { Service } from "../../../contracts/service.js";
import type { CountedStream } from "./entry-events.js";
import type { BoardStatus, StatusBody } from "../protocol/http-bodies.js";
import { PROTOCOL } from "../protocol/messages.js";
import { boardJson, boardRoute, countIn, type BoardExchange } from "./answers.js";
import { serviceRoutes } from "./service-routes.js";
import { askStore } from "../stores/asked-store.js";
import { userOf } from "./board-user.js";
import { comparisonRoutes } from "./comparison-routes.js";
import { controlRoutes } from "./control-routes.js";
import { exportRoutes } from "./export-routes.js";
import { keptRoutes } from "./kept-routes.js";
import { panelRoutes } from "./panel-routes.js";
import { reviewRoutes } from "./review-routes.js";
import { threadRoutes } from "./thread-routes.js";
import { runRoutes } from "./run-routes.js";
import { shownRefusals } from "./shown-refusals.js";
import { passedOn } from "../processes/passed-on.js";

/** The state of the server that the routes use. */
export interface ServerState {
  /** Open sockets. */
  readonly clients: number;
  /** Whether the server is shutting down. */
  readonly isDraining: boolean;
  readonly openStream: CountedStream;
  /** The service whose listener serves the board. */
  readonly service?: Service | undefined;
}

/** Returns the routes of the API, below the path of the public address. */
export function boardRoutes(board: Board, state: ServerState): readonly HttpRoute[] {
  const { basePath } = board.settings;
  const routes = [
    health("/api/health/live", () => true),
    health("/api/health/ready", () => !state.isDraining),
    boardRoute("GET", "/api/status", "viewer", (asked) => status(board, state, asked)),
    boardRoute("GET", "/api/audit", "operator", (asked) => audit(board, asked)),
    ...runRoutes(board, state.openStream),
    ...comparisonRoutes(board),
    ...exportRoutes(board),
    ...controlRoutes(board, state.service),
    ...keptRoutes(board),
    ...panelRoutes(board),
    ...serviceRoutes(board),
    ...threadRoutes(board),
    ...reviewRoutes(board),
  ];
  return routes
    .map((route) => shownRefusals(board, passedOn(board, route)))
    .map((route) => ({ ...route, path: `${basePath}${route.path}` }));
}

function health(path: string, isUp: () => boolean): HttpRoute {
  return {
    method: "GET",
    path,
    role: "public",
    handle: () =>
      isUp()
        ? Response.json({ status: "UP" })
        : Response.json({ status: "DRAINING" }, { status: 503 }),
  };
}

/** Returns the part of the dashboard in the status of a service. */
export function boardStatus(board: Board, { clients }: Pick<ServerState, "clients">): BoardStatus {
  return { protocol: PROTOCOL, epoch: board.epoch, clients, runs: board.feed.logs.length };
}

function status(board: Board, state: ServerState, { principal }: BoardExchange): Response {
  const part = boardStatus(board, state);
  const body: StatusBody = {
    status: state.isDraining ? "DRAINING" : "UP",
    ...part,
    user: userOf(principal),
    board: part,
  };
  return Response.json(body);
}

async function audit(board: Board, { query, request }: BoardExchange): Promise<Response> {
  const most = Number.MAX_SAFE_INTEGER;
  const before = countIn(query, "before", { least: 0, most, otherwise: most });
  const page = await askStore(() => board.audit.page(query.has("before") ? before : undefined));
  return boardJson(JSON.stringify(page), request);
}
