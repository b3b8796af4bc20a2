import type { AnyTask } from "../../../contracts/task.js";
import type { AnyTool } from "../../../contracts/tool.js";
import type { OfferPorts } from "../../shared/offers/ports.js";

/** The specific options of an MCP server. `mcpServer()` also takes the options of an ensemble. */
export interface McpServingSettings {
  /** Name of the server for clients. Default `agentensemble`. */
  readonly name?: string | undefined;
  /** Version of the served tools, as clients see it. Default `1.0.0`. */
  readonly version?: string | undefined;
  /**
   * Instructions for clients on when and how to use the server. Many clients put them into the
   * model's prompt. Default: none.
   */
  readonly instructions?: string | undefined;
  /** Tools to offer under their own names. A name has at most 64 letters, digits, `_` and `-`. */
  readonly tools?: readonly AnyTool[] | undefined;
  /**
   * Tasks to offer as tools. Each takes the task's template variables and returns its output. The
   * tasks of its `context` run before it.
   */
  readonly tasks?: readonly AnyTask[] | undefined;
  /** Maximum number of concurrent calls over all clients. Default 10. */
  readonly maxConcurrentCalls?: number | undefined;
  /** Maximum number of waiting calls. Further calls are rejected. Default 100. */
  readonly maxWaitingCalls?: number | undefined;
  /** Time limit of one call in milliseconds, counted from its start. Default 600,000. */
  readonly callTimeoutMs?: number | undefined;
  /**
   * Maximum size of a client's message in bytes, over HTTP and stdio. Other transports have their
   * own limits. Default 4 MiB.
   */
  readonly maxMessageBytes?: number | undefined;
  /**
   * Called with the error of each call that fails in its tool or task, and with errors outside of
   * calls, such as invalid messages and broken connections. Not called for invalid arguments, and
   * for refused or cancelled calls. Default: these errors are ignored.
   */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** Options of `server.http()`. */
export interface McpHttpOptions {
  /** The port. Default 0: a free port, see `url`. */
  readonly port?: number | undefined;
  /**
   * The address to listen on. An address that other machines can reach needs a `token`. Default
   * `127.0.0.1`.
   */
  readonly host?: string | undefined;
  /** The path of the endpoint. Default `/mcp`. */
  readonly path?: string | undefined;
  /** Token that clients must send as `Authorization: Bearer {token}`. Default: none is required. */
  readonly token?: string | undefined;
  /**
   * Origins of web pages that may call the server, for instance `http://localhost:6274`. Clients
   * other than web pages send no origin. Default: none.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Accepted host names of requests, without port. Default: `localhost`, `127.0.0.1`, `[::1]` and
   * `host`.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Maximum number of sessions, which clients with a protocol before 2026 use. A new session
   * replaces the one with the longest idle time, and is refused if all are in use. Default 100.
   */
  readonly maxSessions?: number | undefined;
  /** Idle time in milliseconds after which a session ends. Default 1,800,000. */
  readonly sessionIdleMs?: number | undefined;
}

/** A listening server. */
export interface McpHttpEndpoint {
  /** The URL that clients connect to. */
  readonly url: string;
  /** Ends its calls and connections and stops listening. */
  close(): Promise<void>;
}

/** A transport of the MCP SDK, version 1 or 2, reduced to the members used here. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/**
 * Offers tools and tasks to MCP clients. Created by `mcpServer()`. One server may serve any number
 * of clients and transports at once.
 */
export interface McpServer {
  /**
   * Serves this process's standard input and output. Resolves when the client disconnects or the
   * server is closed. Until then, all other standard output is written to standard error, because
   * it would corrupt the protocol.
   * @throws ValidationError if the package is missing, if stdio is already being served, and after
   * `close()`
   */
  stdio(): Promise<void>;
  /**
   * Listens for Streamable HTTP.
   * @throws ValidationError for invalid or unsafe options, and after `close()`; McpError if the
   * address is not available
   */
  http(options?: McpHttpOptions): Promise<McpHttpEndpoint>;
  /**
   * Serves one client over a transport of the MCP SDK, and closes it. Resolves when it is closed.
   * @throws as `stdio()`
   */
  serve(transport: McpTransport): Promise<void>;
  /** Ends all calls and connections, then shuts down the kernel unless the caller provided it. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the server needs from the rest of the framework. A plugin may not import it. */
export interface ServerPorts extends OfferPorts {
  /** @throws the error of a plugin that fails to start */
  boot(): Promise<void>;
  dispose(): Promise<void>;
}
