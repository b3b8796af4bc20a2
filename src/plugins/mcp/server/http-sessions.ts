import type {
  Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Sdk } from "./sdk.js";
import { randomBytes } from "node:crypto";

/** Limits of sessions: number, idle time and message size. */
export interface SessionLimits {
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly maxMessageBytes: number;
}

/** A response, and a callback that must be called after the response was sent. */
interface SessionAnswer {
  readonly response: Response;
  readonly answered: () => void;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  /** Requests without a response yet, including the notification stream. */
  open: number;
  idle: NodeJS.Timeout | undefined;
}

/**
 * The sessions of clients with a protocol revision before 2026. Only these need sessions, because a
 * call and its cancellation are separate requests.
 */
export class HttpSessions {
  /** Sorted by the time of their last use. */
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

  /**
   * Handles a request of a session, or one that starts a session. The caller must call `answered`
   * after sending the response.
   */
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

  /**
   * Stores the session after the client's first request was accepted. Only then closes another
   * session if there are too many.
   */
  async #begin(request: Request, parsedBody: unknown): Promise<SessionAnswer> {
    // The id is a secret. An IdGenerator may count, so it is not used.
    const id = randomBytes(24).toString("base64url");
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

  /** Marks a session as in use until the returned function is called. */
  #use(id: string, session: Session): () => void {
    session.open++;
    clearTimeout(session.idle);
    this.#sessions.delete(id);
    this.#sessions.set(id, session); // moves it to the end, as the last one used
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

  /**
   * Closes the session with the longest idle time if there are too many.
   * @returns whether there is room
   */
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
