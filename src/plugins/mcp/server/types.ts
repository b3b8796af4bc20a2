import type { AnyTask } from "../../../contracts/task.js";
import type { AnyTool } from "../../../contracts/tool.js";
import type { OfferPorts } from "../../shared/offers/ports.js";

/** The options of an MCP server that are its own; `mcpServer()` takes those of an ensemble beside them. */
export interface McpServingSettings {
  /** How the server names itself to clients. Default `agentensemble`. */
  readonly name?: string | undefined;
  /** The version of what is served, as clients are told it. Default `1.0.0`. */
  readonly version?: string | undefined;
  /** What clients are told about when and how to use the server; many put it into their model's prompt. Default: nothing. */
  readonly instructions?: string | undefined;
  /** Offered under their own names: letters, digits, `_` and `-`, at most 64. */
  readonly tools?: readonly AnyTool[] | undefined;
  /** Each is offered as a tool that takes the task's template variables and gives its output. The tasks of its `context` run before it. */
  readonly tasks?: readonly AnyTask[] | undefined;
  /** Calls that run at the same time, over all clients. Default 10. */
  readonly maxConcurrentCalls?: number | undefined;
  /** Calls that wait for their turn; one more is refused. Default 100. */
  readonly maxWaitingCalls?: number | undefined;
  /** Time for one call in milliseconds, counted from when it runs. Default 600,000. */
  readonly callTimeoutMs?: number | undefined;
  /** Size of one message from a client in bytes, over HTTP and stdio; other transports have limits of their own. Default 4 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Told what went wrong beside the calls: messages that are none, connections that broke. Default: nobody is. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** Options of `server.http()`. */
export interface McpHttpOptions {
  /** Default 0: one that is free, see `url`. */
  readonly port?: number | undefined;
  /** The address to listen on. Default `127.0.0.1`; any that is not this machine's own needs a `token`. */
  readonly host?: string | undefined;
  /** Default `/mcp`. */
  readonly path?: string | undefined;
  /** Clients must send it: `Authorization: Bearer {token}`. Default: none is asked for. */
  readonly token?: string | undefined;
  /** Origins of web pages that may call the server, for instance `http://localhost:6274`. Default: none; clients that are no web pages send no origin. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Names under which the server may be asked for, without port. Default: `localhost`, `127.0.0.1`, `[::1]` and `host`. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Sessions of clients of the protocol before 2026 that are kept; a new one takes the place of the one unused for longest. Default 100. */
  readonly maxSessions?: number | undefined;
  /** A session without a request for so long is ended, in milliseconds. Default 1,800,000. */
  readonly sessionIdleMs?: number | undefined;
}

/** A server that listens. */
export interface McpHttpEndpoint {
  /** What clients connect to. */
  readonly url: string;
  /** Ends its calls and connections and stops listening. */
  close(): Promise<void>;
}

/** A transport of the MCP SDK, version 1 or 2, as far as it matters here. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
}

/** Offers tools and tasks to MCP clients. Made by `mcpServer()`; one server may serve any number of clients and transports at once. */
export interface McpServer {
  /**
   * Serves this process's standard input and output; resolves when the client is gone or the server closed. Meanwhile everything else that is
   * written to standard output goes to standard error, because it would break the protocol.
   * @throws ValidationError where the package is missing, where stdio is served already, and after `close()`.
   */
  stdio(): Promise<void>;
  /** Listens for Streamable HTTP. @throws ValidationError for options that are unsound or unsafe, and after `close()`; McpError for an address that can't be had. */
  http(options?: McpHttpOptions): Promise<McpHttpEndpoint>;
  /** Serves one client over a transport of the MCP SDK, and closes it; resolves when it is closed. @throws as `stdio()`. */
  serve(transport: McpTransport): Promise<void>;
  /** Ends all calls and connections, then the kernel, unless it was given. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the server needs of the rest of the framework; a plugin may not import it. */
export interface ServerPorts extends OfferPorts {
  /** @throws what makes a plugin fail to start. */
  boot(): Promise<void>;
  dispose(): Promise<void>;
}
