import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { HttpRoute, Principal } from "../../../contracts/http-route.js";
import type { Board } from "../board.js";
import type { BoardAccess } from "./access.js";
import type { BoardLimits } from "./limits.js";
import type { WebSocket } from "./ws-vendor.js";
import { asText } from "../../../util/objects.js";
import { webRequest } from "../../shared/http/http-exchange.js";
import { HttpRefusal } from "../../shared/http/http-refusal.js";
import { isAdmitted } from "../../shared/http/routes.js";
import { SUBPROTOCOL } from "../protocol/messages.js";
import { Broadcast } from "./broadcast.js";
import { CLOSE, Connection } from "./connection.js";
import { JavaClients, type JavaClient } from "./java-clients.js";
import { PageClient } from "./page-client.js";
import { ProcessClient } from "./process-client.js";
import { WebSocketServer } from "./ws-vendor.js";

/** A connection of an authenticated user. */
type Client = PageClient | JavaClient | ProcessClient;
/** The peer of a socket. */
type ClientKind = "page" | "java" | "process";

/** The WebSocket connections. Checks who may open a connection, and which messages it receives. */
export class BoardSockets {
  readonly #board: Board;
  readonly #access: BoardAccess;
  readonly #limits: BoardLimits;
  readonly #onError: (error: unknown) => void;
  readonly #server: WebSocketServer;
  /** The server for processes, whose messages may be larger. */
  readonly #processServer: WebSocketServer;
  readonly #broadcast: Broadcast;
  readonly #java: JavaClients;
  readonly #open = new Set<Connection>();
  readonly #unknown = new Set<Connection>();
  readonly #clients = new Set<Client>();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(
    board: Board,
    o: {
      readonly access: BoardAccess;
      readonly limits: BoardLimits;
      readonly onError: (error: unknown) => void;
    },
  ) {
    this.#board = board;
    this.#access = o.access;
    this.#limits = o.limits;
    this.#onError = o.onError;
    const server = (maxPayload: number): WebSocketServer =>
      new WebSocketServer({
        noServer: true,
        maxPayload,
        perMessageDeflate: false,
        autoPong: false, // see Connection
        handleProtocols: () => SUBPROTOCOL,
      });
    this.#server = server(o.limits.messageBytes);
    this.#processServer = server(o.limits.reportBytes);
    this.#broadcast = new Broadcast(board, o);
    this.#java = new JavaClients(board, o.onError);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Returns the route of the socket. Its upgrade checks the access. */
  route(): HttpRoute {
    return {
      method: "GET",
      path: `${this.#board.settings.basePath}/ws`,
      role: "public",
      handle: () =>
        Response.json(
          { error: "UPGRADE_REQUIRED", message: "This address takes WebSocket connections" },
          { status: 426, headers: { Upgrade: "websocket" } },
        ),
      upgrade: (request, socket, head) => this.#upgrade(request, socket, head),
    };
  }

  /** Closes all connections. */
  close(reason: string): void {
    for (const client of this.#clients) client.end(reason, CLOSE.goingAway);
    for (const connection of this.#unknown) connection.close(CLOSE.goingAway, reason);
    this.#broadcast.close();
    clearInterval(this.#heartbeat);
    const left = [...this.#open];
    setTimeout(() => left.forEach((connection) => connection.terminate()), 500).unref();
  }

  /** @throws HttpRefusal for a refused connection */
  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const protocols = (request.headers["sec-websocket-protocol"] ?? "")
      .split(",")
      .flatMap((name) => name.trim() || []);
    const { origin, authorization } = request.headers;
    const hasToken = /^Bearer +./i.test(authorization ?? "");
    if (origin === undefined && !hasToken)
      throw new HttpRefusal(403, "FORBIDDEN_ORIGIN", "Forbidden");
    if (protocols.length > 0 && !protocols.includes(SUBPROTOCOL))
      throw new HttpRefusal(400, "BAD_REQUEST", "Bad Request");
    const kind = clientKindOf(request, protocols);
    const isProcess = kind === "process";
    if (isProcess && !hasToken) throw new HttpRefusal(401, "UNAUTHORIZED", "Unauthorized");
    const asksLater = this.#access.takesTokens && !hasToken;
    this.#requireRoom(asksLater);
    const needed = isProcess ? "reporter" : "viewer";
    const principal = asksLater ? undefined : await this.#principalOf(request, needed);
    // Other clients may have connected during the check.
    this.#requireRoom(asksLater);
    const server = isProcess ? this.#processServer : this.#server;
    server.handleUpgrade(request, socket, head, (opened) => {
      // An open page keeps the process alive. A TLS stream also has this method.
      (socket as Partial<Socket>).ref?.();
      this.#opened(opened, request.socket.remoteAddress ?? "", {
        principal,
        kind,
      });
    });
  }

  /** @throws HttpRefusal 503 if too many sockets are open */
  #requireRoom(asksLater: boolean): void {
    const { sockets, unknownSockets } = this.#limits;
    if (this.#open.size >= sockets || (asksLater && this.#unknown.size >= unknownSockets))
      throw new HttpRefusal(503, "UNAVAILABLE", "Service Unavailable");
  }

  /** @throws HttpRefusal 401, 403, 429 */
  async #principalOf(request: IncomingMessage, needed: "viewer" | "reporter"): Promise<Principal> {
    const asked = webRequest(request);
    const principal = await this.#access.principalOf(asked);
    if (principal === undefined) {
      const { status } = this.#access.refusalOf(asked) ?? { status: 401 };
      throw new HttpRefusal(status, "UNAUTHORIZED", "Unauthorized");
    }
    if (!isAdmitted(principal, needed)) throw new HttpRefusal(403, "FORBIDDEN", "Forbidden");
    return principal;
  }

  #opened(
    socket: WebSocket,
    address: string,
    o: { readonly principal: Principal | undefined; readonly kind: ClientKind },
  ): void {
    const { reportsPerSecond, messagesPerSecond } = this.#limits;
    const connection = new Connection(socket, address, {
      clock: this.#board.clock,
      limits: this.#limits,
      messagesPerSecond: o.kind === "process" ? reportsPerSecond : messagesPerSecond,
    });
    this.#open.add(connection);
    connection.onClose(() => this.#open.delete(connection));
    if (o.principal === undefined) this.#awaitToken(connection, o.kind);
    else this.#begin(connection, o.principal, o.kind);
  }

  /** Waits for the first message, which must be the token. Sends nothing before. */
  #awaitToken(connection: Connection, kind: ClientKind): void {
    this.#unknown.add(connection);
    const refuse = (): void => connection.close(CLOSE.unauthorized, "Unauthorized");
    const timer = setTimeout(refuse, this.#limits.authMs);
    let take: (message: Parameters<Client["take"]>[0]) => void = ({ type, token }) => {
      clearTimeout(timer);
      take = () => undefined;
      this.#unknown.delete(connection);
      const principal =
        type === "auth" ? this.#access.signIn(asText(token), connection.address) : undefined;
      if (principal === undefined) refuse();
      else if (isAdmitted(principal, "viewer")) take = this.#serve(connection, principal, kind);
      else refuse();
    };
    connection.onClose(() => {
      clearTimeout(timer);
      this.#unknown.delete(connection);
    });
    connection.onMessage((message) => take(message));
  }

  #begin(connection: Connection, principal: Principal, kind: ClientKind): void {
    const take = this.#serve(connection, principal, kind);
    connection.onMessage((message) => take(message));
  }

  /** Serves a user. Returns the handler of messages. */
  #serve(
    connection: Connection,
    principal: Principal,
    kind: ClientKind,
  ): (message: Parameters<Client["take"]>[0]) => void {
    this.#heartbeat ??= this.#startHeartbeat();
    if (kind === "process") {
      const process = new ProcessClient(connection, principal, this.#board.processes);
      this.#add(connection, process);
      connection.onClose(() => process.dispose());
      return (message) => process.take(message);
    }
    if (kind === "page") {
      const client = new PageClient(connection, principal, this.#broadcast);
      this.#add(connection, client);
      this.#broadcast.add(client);
      connection.onClose(() => {
        this.#broadcast.remove(client);
        client.dispose();
      });
      client.greet().catch((error: unknown) => this.#failed(connection, error));
      return (message) => client.take(message);
    }
    const client = this.#java.join(connection, principal);
    this.#add(connection, client);
    connection.onClose(() => this.#java.remove(client));
    this.#java.greet(client).catch((error: unknown) => this.#failed(connection, error));
    return (message) => client.take(message);
  }

  #add(connection: Connection, client: Client): void {
    this.#clients.add(client);
    connection.onClose(() => {
      this.#clients.delete(client);
      if (this.#clients.size > 0) return;
      clearInterval(this.#heartbeat);
      this.#heartbeat = undefined;
    });
  }

  /**
   * Closes a connection after an error. A page must not wait for its first frame when a store
   * fails. It reconnects later.
   */
  #failed(connection: Connection, error: unknown): void {
    this.#onError(error);
    connection.close(1011, "The first message could not be made");
  }

  #startHeartbeat(): NodeJS.Timeout {
    return setInterval(() => {
      const now = this.#board.clock.now().getTime();
      for (const client of this.#clients) client.beat(now);
      this.#broadcast.beat();
    }, this.#limits.heartbeatMs);
  }
}

function clientKindOf({ url = "" }: IncomingMessage, protocols: readonly string[]): ClientKind {
  if (protocols.length === 0) return "java";
  return /[?&]role=reporter(&|$)/.test(url) ? "process" : "page";
}
