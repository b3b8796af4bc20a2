import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../../contracts/runtime.js";
import type { Fields } from "../../../util/objects.js";
import type { BoardLimits } from "../server/limits.js";
import type { ReportTarget } from "./report-target.js";
import { randomShare } from "../../../util/runtime.js";
import { SUBPROTOCOL } from "../protocol/messages.js";
import { Connection } from "../server/connection.js";
import { WebSocket } from "../server/ws-vendor.js";

const HANDSHAKE_MS = 10_000;

/** The callbacks of a link. */
interface LinkListener {
  /** Called when the connection is open and the first frame may be sent. */
  onOpen(connection: Connection): void;
  onMessage(message: Fields): void;
  onClosed(): void;
  /** Called when the board refuses this process. Attempts continue with the longest pause. */
  onRefused(reason: string): void;
}

/** The connection to a board. Reconnects with growing pauses until it is closed. */
export class BoardLink {
  readonly #target: ReportTarget;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #limits: BoardLimits;
  readonly #listener: LinkListener;
  #connection: Connection | undefined;
  #socket: Socket | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(
    target: ReportTarget,
    o: {
      readonly clock: Pick<Clock, "monotonicMs">;
      readonly limits: BoardLimits;
      readonly listener: LinkListener;
    },
  ) {
    this.#target = target;
    this.#clock = o.clock;
    this.#limits = o.limits;
    this.#listener = o.listener;
  }

  connect(): void {
    if (this.#isClosed) return;
    const socket = new WebSocket(reportAddress(this.#target.url), [SUBPROTOCOL], {
      headers: { authorization: `Bearer ${this.#target.token}` },
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: this.#limits.reportBytes,
      perMessageDeflate: false,
      autoPong: false, // see Connection
      followRedirects: false,
    });
    socket.on("error", () => undefined); // closes the socket
    socket.once("upgrade", (response: IncomingMessage) => (this.#socket = response.socket));
    socket.once("unexpected-response", (_request, response: IncomingMessage) => {
      const { statusCode = 0 } = response;
      response.destroy();
      if (statusCode < 500) this.#refused(`it answers ${statusCode}`);
      socket.terminate();
    });
    const { reportsPerSecond } = this.#limits;
    const o = { clock: this.#clock, limits: this.#limits, messagesPerSecond: reportsPerSecond };
    const connection = new Connection(socket, "", o);
    this.#connection = connection;
    connection.onMessage((message) => this.#listener.onMessage(message));
    socket.once("open", () => {
      this.keepAlive(true);
      this.#heartbeat = setInterval(() => connection.ping(), this.#limits.heartbeatMs).unref();
      this.#listener.onOpen(connection);
    });
    socket.once("close", (code, reason) => this.#closed(connection, code, String(reason)));
  }

  /** Called when the board has accepted the process. */
  accepted(): void {
    this.#failures = 0;
  }

  /** Sets whether the connection keeps the process alive. */
  keepAlive(isNeeded: boolean): void {
    if (isNeeded) this.#socket?.ref();
    else this.#socket?.unref();
  }

  /** Closes this connection. Another attempt follows. */
  refuse(reason: string): void {
    this.#refused(reason);
    this.#connection?.close(1002, "");
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#connection?.close(1001, "The process ends");
  }

  #refused(reason: string): void {
    this.#failures = Number.POSITIVE_INFINITY;
    this.#listener.onRefused(reason);
  }

  #closed(connection: Connection, code: number, reason: string): void {
    if (this.#connection !== connection) return;
    this.#connection = this.#socket = undefined;
    clearInterval(this.#heartbeat);
    if (code === 4401 || code === 4403) this.#refused(reason);
    this.#listener.onClosed();
    if (this.#isClosed) return;
    const { reconnectMs, maxReconnectMs } = this.#limits;
    const wait = Math.min(maxReconnectMs, reconnectMs * 2 ** this.#failures++);
    this.#retry = setTimeout(() => this.connect(), wait * (0.75 + randomShare() / 2)).unref();
  }
}

function reportAddress(url: string): string {
  const address = new URL("ws", `${url.replace(/\/+$/, "")}/`);
  address.protocol = address.protocol.replace("http", "ws");
  address.search = "?role=reporter";
  return address.href;
}
