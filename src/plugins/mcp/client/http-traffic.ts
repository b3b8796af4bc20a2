import type { ErrorText } from "./server-secrets.js";
import { setMaxListeners } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";

import { Cancellation } from "../../../util/abort/cancellation.js";
import { MessageGuard } from "../shared/message-guard.js";
import { messageOf } from "../../../util/errors.js";

/** So much of what a server says to a failed request is read. */
const ERROR_BODY_BYTES = 16_384;

/** The platform's fetch, as the protocol's client calls it. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** What the traffic tells its session. */
export interface TrafficEvents {
  /** The stream that was to bring the answer to this request is over, and can't be taken up again. The answer may have come. */
  streamEnded(requestId: string | number, reason: string): void;
  /** The stream of the server's own messages is over. */
  listeningEnded(): void;
}

/** What a request is about, as far as it matters here. */
interface Outgoing {
  readonly id?: string | number;
  readonly cancels?: string | number;
}

function describeFailure(body: unknown): Outgoing {
  if (typeof body !== "string") return {};
  const message = JSON.parse(body) as {
    readonly id?: string | number;
    readonly method?: string;
    readonly params?: { readonly requestId?: string | number };
  }; // the client's own
  if (message.method === "notifications/cancelled")
    return message.params?.requestId === undefined ? {} : { cancels: message.params.requestId };
  return message.method === undefined || message.id === undefined ? {} : { id: message.id };
}

const isRedirect = (response: Response): boolean => response.status >= 300 && response.status < 400;

/**
 * The HTTP requests of one session. Bodies are limited before anybody reads them, what failed requests say is cut and cleared of secrets,
 * and a request whose call was cancelled lets go of its connection.
 */
export class HttpTraffic {
  readonly #maxBytes: number;
  readonly #redact: ErrorText;
  readonly #events: TrafficEvents;
  readonly #open = new Map<string | number, { readonly end: Cancellation; isResumable: boolean }>();

  constructor(maxBytes: number, redact: ErrorText, events: TrafficEvents) {
    this.#maxBytes = maxBytes;
    this.#redact = redact;
    this.#events = events;
  }

  /** To be given to the protocol's client, which decides about redirects: it follows them within the origin only. */
  readonly fetch: Fetch = async (url, init = {}) => {
    const { id, cancels } = describeFailure(init.body);
    if (cancels !== undefined) this.#letGo(cancels);
    const end = new Cancellation();
    if (init.signal) {
      setMaxListeners(0, init.signal); // one for each request that is under way is no leak
      end.follow(init.signal);
    }
    if (id !== undefined) this.#open.set(id, { end, isResumable: false });
    const done = (): void => {
      end.dispose();
      if (id !== undefined) this.#open.delete(id);
    };
    try {
      const response = await globalThis.fetch(url, { ...init, signal: end.signal });
      return await this.#guarded(response, id, init.method === "GET", done);
    } catch (error) {
      done();
      throw error;
    }
  };

  /** A stream that can be taken up again would be, so it is left to end by itself. */
  #letGo(id: string | number): void {
    const open = this.#open.get(id);
    if (open?.isResumable === false) open.end.cancel(new Error("cancelled"));
  }

  async #guarded(
    response: Response,
    id: string | number | undefined,
    isListening: boolean,
    done: () => void,
  ): Promise<Response> {
    const { body, status, statusText, headers } = response;
    if (body === null || isRedirect(response)) {
      done();
      return response;
    }
    if (response.ok && headers.get("content-type")?.startsWith("text/event-stream") === true) {
      return new Response(this.#streamed(body, id, isListening, done), {
        status,
        statusText,
        headers,
      });
    }
    const text = response.ok ? await this.#whole(body) : this.#redact(await beginningOf(body));
    done();
    return new Response(text, { status, statusText, headers });
  }

  async #whole(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
    const guard = new MessageGuard(this.#maxBytes, "body");
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) {
      guard.scan(chunk);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  #streamed(
    body: ReadableStream<Uint8Array>,
    id: string | number | undefined,
    isListening: boolean,
    done: () => void,
  ): ReadableStream<Uint8Array> {
    const guard = new MessageGuard(this.#maxBytes, "event");
    const reader = body.getReader();
    const end = (reason: string): void => {
      const isResumable = id !== undefined && this.#open.get(id)?.isResumable === true;
      done();
      if (isListening) this.#events.listeningEnded();
      if (id !== undefined && !isResumable) this.#events.streamEnded(id, reason);
    };
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { value } = await reader.read();
          if (value === undefined) {
            controller.close();
            return end("its answer ended before it was complete");
          }
          guard.scan(value);
          this.#note(id, value);
          controller.enqueue(value);
          await nextTurn(); // a server that never stops talking does not stop the rest
        } catch (error) {
          controller.error(error);
          end(messageOf(error));
          await reader.cancel().catch(() => undefined); // it is broken already
        }
      },
      cancel: (reason) => {
        done();
        return reader.cancel(reason);
      },
    });
  }

  /** Events with ids can be asked for again, so the client will take up the stream when it breaks off. */
  #note(id: string | number | undefined, chunk: Uint8Array): void {
    const open = id === undefined ? undefined : this.#open.get(id);
    if (open === undefined || open.isResumable) return;
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    open.isResumable = text.subarray(0, 3).toString("latin1") === "id:" || text.includes("\nid:");
  }
}

async function beginningOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= ERROR_BODY_BYTES) break; // leaving the loop cancels the body
  }
  return Buffer.concat(chunks).subarray(0, ERROR_BODY_BYTES).toString("utf8");
}
