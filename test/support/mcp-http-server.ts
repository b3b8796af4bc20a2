import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: unknown;
    readonly requestId?: number;
  };
}

/** The reaction of a tool of the server to a call. */
export type HttpTool = (
  response: ServerResponse,
  message: Message,
  request: IncomingMessage,
) => void;

const EVENTS = { "content-type": "text/event-stream" };

/** An MCP server over streamable HTTP on the loopback interface, whose tools break the rules. */
export class McpHttpTestServer {
  /** All requests, as `METHOD method`. */
  readonly requests: string[] = [];
  /** Headers of the last request. */
  lastHeaders: IncomingMessage["headers"] = {};
  /** The answer to a GET. Default: a refusal, like servers without own messages. */
  onGet: (response: ServerResponse, request: IncomingMessage) => void = (response) =>
    response.writeHead(405).end();
  /** Replaces all other answers. */
  intercept: ((response: ServerResponse, request: IncomingMessage) => boolean) | undefined;
  readonly #tools: Readonly<Record<string, HttpTool>>;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #session = 0;

  constructor(tools: Readonly<Record<string, HttpTool>>) {
    this.#tools = tools;
    this.#server = createServer((request, response) => void this.#handle(request, response));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`; // it listens on a port
  }

  /** Open connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** As after a restart: earlier sessions are unknown. */
  forget(): void {
    this.#session++;
  }

  static answer(
    response: ServerResponse,
    id: number | undefined,
    result: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    response
      .writeHead(200, { "content-type": "application/json", ...headers })
      .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }

  static text(value: string): unknown {
    return { content: [{ type: "text", text: value }] };
  }

  /** Begins a stream of events, with those given. */
  static stream(response: ServerResponse, ...events: readonly string[]): void {
    response.writeHead(200, EVENTS);
    response.flushHeaders();
    for (const event of events) response.write(`${event}\n\n`);
  }

  static event(id: number | undefined, result: unknown): string {
    return `data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}`;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    this.lastHeaders = request.headers;
    const message = body === "" ? undefined : (JSON.parse(body) as Message); // our own client's
    this.requests.push(`${request.method} ${message?.method ?? ""}`.trim());
    if (this.intercept?.(response, request) === true) return;
    if (request.method === "GET") return this.onGet(response, request);
    if (message === undefined) return void response.writeHead(200).end();
    const session = String(this.#session);
    if (message.method === "initialize") {
      const result = {
        protocolVersion: "2025-06-18",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "http-faults", version: "1" },
      };
      return McpHttpTestServer.answer(response, message.id, result, { "mcp-session-id": session });
    }
    if (request.headers["mcp-session-id"] !== session)
      return void response.writeHead(404).end("Session not found");
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method === "tools/list") {
      const tools = Object.keys(this.#tools).map((name) => ({
        name,
        inputSchema: { type: "object" },
      }));
      return McpHttpTestServer.answer(response, message.id, { tools });
    }
    this.#tools[message.params?.name ?? ""]?.(response, message, request);
  }
}
