import type {
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Sdk } from "./sdk.js";
import { randomBytes } from "node:crypto";

/** How many sessions there may be, for how long unused, and how large their messages. */
export interface SessionLimits {
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly maxMessageBytes: number;
}

/** An answer, and what to call when it has been sent. */
interface SessionAnswer {
  readonly response: Response;
  readonly answered: () => void;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  /** Requests without an answer so far, the stream for notifications included. */
  open: number;
  idle: NodeJS.Timeout | undefined;
}

/** The sessions of clients of the protocol before 2026. They alone need any: a call and its cancellation are two requests there. */
export class HttpSessions {
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();
  readonly #sdk: Sdk;
  readonly #createServer: () => Server;
  readonly #limits: SessionLimits;
  readonly #onError: (error: Error) => void;
  #closed = false;

  constructor(
    sdk: Sdk,
    createServer: () => Server,
    limits: SessionLimits,
    onError: (error: Error) => void,
  ) {
    this.#sdk = sdk;
    this.#createServer = createServer;
    this.#limits = limits;
    this.#onError = onError;
  }

  /** Answers a request of a session, or one that begins a session. `answered` must be called when the answer has been sent. */
  async handle(request: Request, parsedBody: unknown): Promise<SessionAnswer> {
    const id = request.headers.get("mcp-session-id") ?? undefined;
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (session !== undefined && id !== undefined)
      return this.#ask(id, session, request, parsedBody);
    if (id !== undefined) return answeredWith(refusedRequest(404, -32_001, "Session not found"));
    if (request.method !== "POST" || !this.#sdk.isInitializeRequest(parsedBody))
      return answeredWith(
        refusedRequest(400, -32_000, "Bad Request: no session; initialize one first"),
      );
    return this.#begin(request, parsedBody);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#sessions].map(([id, session]) => this.#end(id, session)));
  }

  /** Nothing is kept, and no other session makes room, before the client's first request has been accepted. */
  async #begin(request: Request, parsedBody: unknown): Promise<SessionAnswer> {
    const id = randomBytes(24).toString("base64url"); // a secret rather than a name, so it can't come from an IdGenerator that may count
    const server = this.#createServer();
    const transport = new this.#sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize: this.#limits.maxMessageBytes,
    });
    server.onerror = this.#onError;
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody });
    if (!response.ok || this.#closed || !this.#makeRoom()) {
      await server.close();
      return answeredWith(
        response.ok ? refusedRequest(503, -32_000, "The server has too many sessions") : response,
      );
    }
    const session: Session = { transport, server, open: 0, idle: undefined };
    const previous = transport.onclose;
    transport.onclose = () => {
      previous?.();
      this.#forget(id, session);
    };
    return { response, answered: this.#use(id, session) };
  }

  async #ask(
    id: string,
    session: Session,
    request: Request,
    parsedBody: unknown,
  ): Promise<SessionAnswer> {
    const answered = this.#use(id, session);
    try {
      return {
        response: await session.transport.handleRequest(
          request,
          parsedBody === undefined ? {} : { parsedBody },
        ),
        answered,
      };
    } catch (error) {
      answered();
      throw error;
    }
  }

  /** Notes that a session is in use, until the function returned is called. */
  #use(id: string, session: Session): () => void {
    session.open++;
    clearTimeout(session.idle);
    this.#sessions.delete(id);
    this.#sessions.set(id, session); // now the last one used
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      session.open--;
      this.#expectUse(id, session);
    };
  }

  #expectUse(id: string, session: Session): void {
    if (session.open > 0 || this.#sessions.get(id) !== session) return;
    clearTimeout(session.idle);
    session.idle = setTimeout(
      () => void this.#end(id, session),
      this.#limits.sessionIdleMs,
    ).unref();
  }

  /** Ends the session that has been unused for longest, where there is one too many. @returns whether there is room. */
  #makeRoom(): boolean {
    if (this.#sessions.size < this.#limits.maxSessions) return true;
    const unused = [...this.#sessions].find(([, session]) => session.open === 0);
    if (unused === undefined) return false;
    void this.#end(...unused);
    return true;
  }

  async #end(id: string, session: Session): Promise<void> {
    this.#forget(id, session);
    await session.server.close().catch(this.#onError);
  }

  #forget(id: string, session: Session): void {
    clearTimeout(session.idle);
    if (this.#sessions.get(id) === session) this.#sessions.delete(id);
  }
}

function answeredWith(response: Response): SessionAnswer {
  return { response, answered: () => undefined };
}

function refusedRequest(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}
