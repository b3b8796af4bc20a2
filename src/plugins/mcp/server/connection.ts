import { setImmediate as nextTurn } from "node:timers/promises";
import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Server,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/server";
import type { CallDispatcher } from "./call-dispatcher.js";
import type { Sdk } from "./sdk.js";

/** One client on one transport. */
export interface Connection {
  /**
   * Resolves when the transport is closed and no call is running.
   * @throws the error if the transport fails to start
   */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** What a connection needs to serve a client. */
export interface ServingParts {
  readonly sdk: Sdk;
  readonly createServer: () => Server;
  readonly dispatcher: CallDispatcher;
  readonly onError: (error: Error) => void;
}

/** Serves a transport until one side closes it. */
export function serveTransport(
  { sdk, createServer, dispatcher, onError }: ServingParts,
  transport: Transport,
): Connection {
  const wire = new WatchedTransport(transport);
  const handle = sdk.serveStdio(createServer, { transport: wire, onerror: onError });
  // the end of the connection ends the client's calls
  const closed = wire.ended.finally(() => dispatcher.close());
  closed.catch(() => undefined); // the owner of the connection may await it later
  return {
    closed,
    async close() {
      await dispatcher.close(); // first, so that the responses are still sent
      await nextTurn();
      await handle.close();
      await closed;
    },
  };
}

/** A transport whose end can be awaited. The SDK occupies the transport's only close callback. */
class WatchedTransport implements Transport {
  readonly #inner: Transport;
  readonly ended: Promise<void>;
  readonly #end: (work: Promise<void> | void) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;

  constructor(inner: Transport) {
    this.#inner = inner;
    let end: (work: Promise<void> | void) => void = () => undefined;
    this.ended = new Promise((resolve) => (end = resolve));
    this.#end = end;
    inner.onclose = () => {
      this.onclose?.();
      this.#end();
    };
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (message, extra) => this.onmessage?.(message, extra);
  }

  async start(): Promise<void> {
    try {
      await this.#inner.start();
    } catch (error) {
      this.#end(Promise.reject(error));
      throw error;
    }
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  async close(): Promise<void> {
    await this.#inner.close();
    this.#end(); // some transports report only the end of the other side
  }
}
