import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { until } from "./time.js";

/** An answer as data; a `Wire` writes it in a vendor's form. */
export interface WireAnswer {
  readonly text?: string;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: string;
  }[];
  /** The vendor's term. */
  readonly finishReason?: string;
  readonly refusal?: string;
  /** The vendor's document. */
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly model?: string;
}

/** The form of answers in a vendor's API. */
export interface Wire {
  /** The path between the server's URL and the paths of requests, as in base URLs. */
  readonly basePath: string;
  readonly endMark?: string;
  document(answer: WireAnswer): Readonly<Record<string, unknown>>;
  events(
    answer: WireAnswer,
    request: RecordedRequest,
  ): readonly Readonly<Record<string, unknown>>[];
}

/** The server's reaction to a request. */
export type Reply =
  | ({ readonly kind: "answer" } & WireAnswer)
  /** A status with a body: an object is sent as JSON, a text as it is. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Status 200 with exactly this body. `announcedLength` may lie. */
  | {
      readonly kind: "raw";
      readonly body: string;
      readonly contentType?: string;
      readonly announcedLength?: number;
    }
  /** A stream of exactly these events: objects as JSON, texts as they are. Ends after them as `end` says. */
  | {
      readonly kind: "events";
      readonly events: readonly unknown[];
      readonly end: "done" | "close" | "cut" | "stall";
    }
  /** Whatever it takes. */
  | { readonly kind: "custom"; run(response: ServerResponse, request: RecordedRequest): void }
  /** Takes the request and never answers. */
  | { readonly kind: "hang" }
  /** Sends headers and half a body, then nothing more. */
  | { readonly kind: "stalled-body" }
  /** Closes the connection without an answer. */
  | { readonly kind: "reset" };

export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

export type ReplyFor = Reply | ((request: RecordedRequest) => Reply);

/** Cuts a text into pieces of a few characters, without splitting a surrogate pair. */
export function pieces(text: string, size = 4): string[] {
  const characters = Array.from(text);
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
}

/** An event in the form of a stream. */
export function eventText(event: unknown): string {
  return `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
}

async function readRequest(request: IncomingMessage): Promise<RecordedRequest> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  const body = JSON.parse(text === "" ? "{}" : text) as RecordedRequest["body"]; // clients send JSON objects only
  return { path: request.url ?? "", headers: request.headers, body };
}

function sendBody(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): void {
  const isText = typeof body === "string";
  response.writeHead(status, {
    "content-type": isText ? "text/plain" : "application/json",
    ...headers,
  });
  response.end(body === undefined ? "" : isText ? body : JSON.stringify(body));
}

async function closed(open: () => number, limitMs?: number): Promise<void> {
  await until(
    () => open() === 0,
    () => `${open()} connections are still open`,
    limitMs,
  );
}

/**
 * A stand-in for a vendor's API on 127.0.0.1 with configured reactions, which records its requests.
 */
export class ModelServer {
  readonly requests: RecordedRequest[] = [];
  readonly #wire: Wire;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #requestSockets: Socket[] = [];
  #replies: ReplyFor[] = [{ kind: "answer", text: "Hello" }];
  /** The number of connections opened so far. */
  connections = 0;
  /** Whether each answer ends its connection. */
  closesConnections = false;

  protected constructor(wire: Wire) {
    this.#wire = wire;
    this.#server = createServer((request, response) => void this.#handle(request, response));
    this.#server.on("connection", (socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  protected async listen(replies: readonly ReplyFor[]): Promise<void> {
    if (replies.length > 0) this.reply(...replies);
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  /** The reactions to the next requests, one each; the last one is repeated. */
  reply(...replies: readonly ReplyFor[]): void {
    this.#replies = [...replies];
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string")
      throw new Error("the server does not listen");
    return `http://127.0.0.1:${address.port}${this.#wire.basePath}`;
  }

  /** Waits until the client has closed the connection of the n-th request. */
  async abandoned(count = 1): Promise<void> {
    await this.received(count);
    await until(
      () => this.#requestSockets[count - 1]?.destroyed === true,
      () => `the connection of request ${count} is still open`,
    );
  }

  /** Waits for the n-th request. */
  async received(count = 1): Promise<void> {
    await until(
      () => this.requests.length >= count,
      () => `only ${this.requests.length} requests came`,
    );
  }

  /**
   * Waits until every connection with a request is closed. The platform's fetch opens another,
   * unused connection when a request is aborted. It closes that connection after some seconds: see
   * `emptied`.
   */
  async deserted(): Promise<void> {
    await closed(() => this.#requestSockets.filter((socket) => !socket.destroyed).length, 3_000); // an idle connection would close after four seconds
  }

  /** Waits until no connection is open at all. */
  async emptied(): Promise<void> {
    await closed(() => this.#sockets.size);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const recorded = await readRequest(request);
    this.requests.push(recorded);
    this.#requestSockets.push(request.socket);
    if (this.closesConnections) response.setHeader("connection", "close");
    const next = this.#replies.length > 1 ? this.#replies.shift() : this.#replies[0];
    if (next !== undefined)
      this.#send(response, typeof next === "function" ? next(recorded) : next, recorded);
  }

  #sendEvents(
    response: ServerResponse,
    events: readonly unknown[],
    end: "done" | "close" | "cut" | "stall",
  ): void {
    const { endMark } = this.#wire;
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) response.write(eventText(event));
    if (end === "done" && endMark !== undefined) response.write(eventText(endMark));
    if (end === "done" || end === "close") response.end();
    // Waits until written data was sent: destroying at once would drop it.
    if (end === "cut") setTimeout(() => response.destroy(), 20);
  }

  #send(response: ServerResponse, reply: Reply, request: RecordedRequest): void {
    switch (reply.kind) {
      case "answer":
        if (request.body["stream"] === true)
          return this.#sendEvents(response, this.#wire.events(reply, request), "done");
        return sendBody(response, 200, {}, this.#wire.document(reply));
      case "status":
        return sendBody(response, reply.status, reply.headers ?? {}, reply.body);
      case "raw":
        if (reply.announcedLength === undefined)
          return sendBody(
            response,
            200,
            { "content-type": reply.contentType ?? "application/json" },
            reply.body,
          );
        response.writeHead(200, {
          "content-type": reply.contentType ?? "application/json",
          "content-length": String(reply.announcedLength),
        });
        response.write(reply.body);
        setTimeout(() => response.destroy(), 20);
        return;
      case "events":
        return this.#sendEvents(response, reply.events, reply.end);
      case "custom":
        return reply.run(response, request);
      case "stalled-body":
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"choices":[');
        return;
      case "reset":
        response.destroy();
        return;
      case "hang":
    }
  }
}
