import type { Clock } from "../../../contracts/runtime.js";
import type { Fields } from "../../../util/objects.js";
import type { BoardLimits } from "./limits.js";
import type { WebSocket } from "./ws-vendor.js";
import { parseWithoutRefusedKeys } from "../../../util/json/refused-keys.js";
import { asFields } from "../../../util/objects.js";

/** Close codes of the protocol. */
export const CLOSE = Object.freeze({
  goingAway: 1001,
  notText: 1003,
  notJson: 1007,
  tooManyMessages: 1008,
  unauthorized: 4401,
  /** For a process that reports its runs. */
  refused: 4403,
});

const MAX_UNANSWERED = 2;

/**
 * A socket with limits for the rate of messages, for unanswered pings, and for unsent data. A peer
 * that does not read is not read, because its messages would have answers. Answers pings itself, so
 * that they count as messages. The socket must not answer pings.
 */
export class Connection {
  readonly address: string;
  readonly #socket: WebSocket;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #limits: BoardLimits;
  readonly #messagesPerSecond: number;
  #unanswered = 0;
  #second = 0;
  #messages = 0;
  #isClosing = false;
  #onDrained: (() => void) | undefined;

  constructor(
    socket: WebSocket,
    address: string,
    o: {
      readonly clock: Pick<Clock, "monotonicMs">;
      readonly limits: BoardLimits;
      /** Limit of messages per second. Default: the limit of a page. */
      readonly messagesPerSecond?: number | undefined;
    },
  ) {
    this.#messagesPerSecond = o.messagesPerSecond ?? o.limits.messagesPerSecond;
    this.#socket = socket;
    this.address = address;
    this.#clock = o.clock;
    this.#limits = o.limits;
    socket.on("pong", () => this.#admits());
    socket.on("ping", (data) => {
      if (!this.#admits()) return;
      socket.pong(data, undefined, () => this.#sent());
      this.#pauseIfFull();
    });
    socket.on("error", () => undefined); // closes the socket
  }

  /** Whether so much data is unsent that no further data should be added. */
  get isFull(): boolean {
    return this.#socket.bufferedAmount > this.#limits.bufferedBytes;
  }

  /** Whether there is no unsent data. */
  get isEmpty(): boolean {
    return this.#socket.bufferedAmount === 0;
  }

  /** Calls `fn` with each message that is a JSON object. Other messages close the connection. */
  onMessage(fn: (message: Fields) => void): void {
    this.#socket.on("message", (data, isBinary) => {
      if (!this.#admits()) return;
      if (isBinary) return this.close(CLOSE.notText, "Messages are JSON texts");
      const message = messageIn(receivedText(data));
      if (message === undefined) return this.close(CLOSE.notJson, "A message is not a JSON object");
      fn(message);
    });
  }

  onClose(fn: () => void): void {
    this.#socket.once("close", fn);
  }

  /** Calls `fn` once, when a full connection has sent its data. */
  whenDrained(fn: () => void): void {
    this.#onDrained = fn;
  }

  /** Sends a JSON text. Several connections may send the same bytes. */
  send(text: string | Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(text, { binary: false }, () => this.#sent());
    this.#pauseIfFull();
  }

  sendFrame(frame: object): void {
    this.send(JSON.stringify(frame));
  }

  /** Sends a ping. A peer that has not answered two pings is disconnected. */
  ping(): void {
    if (this.#unanswered++ >= MAX_UNANSWERED) this.#socket.terminate();
    else this.#socket.ping();
  }

  /**
   * Ignores further messages. Ends the socket when the peer has closed it or the time limit
   * expires.
   */
  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#socket.close(code, reason);
    const timer = setTimeout(() => this.#socket.terminate(), this.#limits.socketCloseMs).unref();
    this.onClose(() => clearTimeout(timer));
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Counts a frame of the peer. Returns whether it is handled. */
  #admits(): boolean {
    // The peer may send until it has read the close frame.
    if (this.#isClosing) return false;
    this.#unanswered = 0;
    if (this.#isFlood()) this.close(CLOSE.tooManyMessages, "Too many messages");
    return !this.#isClosing;
  }

  #pauseIfFull(): void {
    if (this.isFull) this.#socket.pause();
  }

  #sent(): void {
    // The peer has read some data.
    if (this.#socket.isPaused) this.#unanswered = 0;
    if (this.#socket.bufferedAmount > 0) return;
    if (this.#socket.isPaused) this.#socket.resume();
    const fn = this.#onDrained;
    this.#onDrained = undefined;
    fn?.();
  }

  #isFlood(): boolean {
    const second = Math.floor(this.#clock.monotonicMs() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#messages = 0;
    }
    return ++this.#messages > this.#messagesPerSecond;
  }
}

/** Returns the text of a message. Messages are one buffer each, by the default of `binaryType`. */
function receivedText(data: unknown): string {
  return Buffer.isBuffer(data) ? data.toString() : "";
}

function messageIn(text: string): Fields | undefined {
  try {
    return asFields(parseWithoutRefusedKeys(text));
  } catch {
    return undefined;
  }
}
