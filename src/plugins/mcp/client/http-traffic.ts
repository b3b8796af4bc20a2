import type { ErrorText } from "./server-secrets.js";
import { setMaxListeners } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";

import { Cancellation } from "../../../util/abort/cancellation.js";
import { MessageGuard } from "../shared/message-guard.js";
import { messageOf } from "../../../util/errors.js";

/** Maximum number of bytes read from the response to a failed request. */
const ERROR_BODY_BYTES = 16_384;

/** The platform's fetch, in the form that the protocol's client calls. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Events that the traffic reports to its session. */
export interface TrafficEvents {
  /**
   * The response stream of this request has ended and can't be resumed. The response may have
   * arrived before.
   */
  streamEnded(requestId: string | number, reason: string): void;
  /** The stream of server-initiated messages has ended. */
  listeningEnded(): void;
}

/** The relevant parts of a request. */
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
  }; // comes from the protocol's client
  if (message.method === "notifications/cancelled")
    return message.params?.requestId === undefined ? {} : { cancels: message.params.requestId };
  return message.method === undefined || message.id === undefined ? {} : { id: message.id };
}

const isRedirect = (response: Response): boolean => response.status >= 300 && response.status < 400;

/**
 * The HTTP requests of one session. Limits bodies before they are read. Shortens error bodies and
 * removes secrets. Releases the connection of a request whose call was cancelled.
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

  /**
   * Passed to the protocol's client, which handles redirects and follows them within the origin
   * only.
   */
  readonly fetch: Fetch = async (url, init = {}) => {
    const { id, cancels } = describeFailure(init.body);
    if (cancels !== undefined) this.#letGo(cancels);
    const end = new Cancellation();
    if (init.signal) {
      setMaxListeners(0, init.signal); // many listeners are expected: one per open request
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

  /**
   * Ends the stream of a cancelled request. The client would resume a stream that has event ids, so
   * such a stream ends without being cancelled.
   */
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
          await nextTurn(); // a server that sends without pause must not block other work
        } catch (error) {
          controller.error(error);
          end(messageOf(error));
          await reader.cancel().catch(() => undefined); // the stream has failed already
        }
      },
      cancel: (reason) => {
        done();
        return reader.cancel(reason);
      },
    });
  }

  /**
   * Events with ids can be requested again, so the client resumes the stream after an interruption.
   */
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
