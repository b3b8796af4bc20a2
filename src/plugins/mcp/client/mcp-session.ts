import type {
  CallToolResult,
  Client,
  StreamableHTTPClientTransport,
  Tool,
} from "@modelcontextprotocol/client";
import type { ClientVendor } from "./client-vendor.js";
import type { ResolvedServer } from "./mcp-client-options.js";
import type { ErrorText } from "./server-secrets.js";

import { firstEnding } from "../../../util/abort/timeouts.js";
import { loadClientVendor } from "./client-vendor.js";
import { HttpTraffic } from "./http-traffic.js";
import { StdioTransport } from "./stdio-transport.js";
import { messageOf } from "../../../util/errors.js";

/** Time limit in milliseconds for ending the session at a remote server. */
const GOODBYE_MS = 500;
/**
 * Extra time of the protocol client's own time limit. Normally the caller's limit, which is
 * shorter, ends the call.
 */
const BACKSTOP_MS = 500;
const MOST_PAGES = 64;
const MOST_TOOLS = 1_000;
/**
 * Error code of a local response, created when the server's response can't arrive. Outside the
 * range that servers use.
 */
const STREAM_ENDED = -32_999;

/** Events that a session reports to its owner. */
export interface SessionEvents {
  /** The server's tool list may have changed. */
  listChanged(): void;
  /** The connection was lost, and not closed by `close`. */
  lost(session: McpSession): void;
}

/** One of the two transports, with a description of how the server ended. */
interface ServerChannel {
  connect(
    client: Client,
    options: { readonly signal: AbortSignal; readonly timeout: number },
  ): Promise<void>;
  account(): string;
  readonly pid: number | undefined;
  close(): Promise<void>;
}

/**
 * The server rejected the request because of an unknown tool or invalid arguments. The connection
 * stays usable.
 */
export class RequestRefused extends Error {
  constructor(message: string, options: ErrorOptions) {
    super(message, options);
    this.name = "RequestRefused";
  }
}

/** The connection could not be opened. */
export class OpeningFailed extends Error {
  /** How the server ended. Empty if unknown. */
  readonly account: string;
  /** Whether further attempts are useless: the program does not exist, or access was denied. */
  readonly isFinal: boolean;

  constructor(cause: unknown, account: string, isFinal: boolean) {
    super(messageOf(cause), { cause });
    this.name = "OpeningFailed";
    [this.account, this.isFinal] = [account, isFinal];
  }
}

const FINAL_CODES: readonly unknown[] = ["ENOENT", "EACCES", "ENOTDIR"];

/** A connection to a server, from the handshake until it is lost or closed. */
export class McpSession {
  readonly #vendor: ClientVendor;
  readonly #client: Client;
  readonly #line: ServerChannel;
  readonly #server: ResolvedServer;
  #isClosing = false;
  #isAlive = true;

  private constructor(
    vendor: ClientVendor,
    client: Client,
    line: ServerChannel,
    server: ResolvedServer,
  ) {
    [this.#vendor, this.#client, this.#line, this.#server] = [vendor, client, line, server];
  }

  /**
   * Connects to a server and performs the handshake. Releases everything on failure.
   * @throws OpeningFailed; ValidationError if the client is not installed
   */
  static async open(
    server: ResolvedServer,
    redact: ErrorText,
    signal: AbortSignal,
    events: SessionEvents,
  ): Promise<McpSession> {
    const vendor = await loadClientVendor();
    signal.throwIfAborted();
    const client = new vendor.Client({ name: "agentensemble", version: "1" }, { capabilities: {} });
    const line =
      server.endpoint.kind === "stdio"
        ? stdioLine(vendor, server)
        : httpLine(vendor, server, redact, () => events.listChanged());
    const session = new McpSession(vendor, client, line, server);
    client.onclose = () => session.#closed(events);
    // relevant errors end a request or the connection, and are reported there
    client.onerror = () => undefined;
    client.setNotificationHandler("notifications/tools/list_changed", () => events.listChanged());
    try {
      await line.connect(client, { signal, timeout: server.connectTimeoutMs });
      return session;
    } catch (error) {
      // read before closing ends the process
      const failed = new OpeningFailed(error, line.account(), session.#isFinal(error));
      await session.close();
      throw failed;
    }
  }

  /** Whether the connection is usable, as far as is known. */
  get isAlive(): boolean {
    return this.#isAlive && !this.#isClosing;
  }

  /** Process id of a local server. */
  get pid(): number | undefined {
    return this.#line.pid;
  }

  /** How the server ended, as far as is known. */
  get account(): string {
    return this.#line.account();
  }

  /** Returns all tools of the server, page by page. */
  async listTools(signal: AbortSignal): Promise<readonly Tool[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    const tools: Tool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const request = {
        method: "tools/list" as const,
        ...(cursor === undefined ? {} : { params: { cursor } }),
      };
      const answer = await this.#client.request(request, {
        signal,
        timeout: this.#server.connectTimeoutMs,
      });
      tools.push(...answer.tools);
      if (tools.length > MOST_TOOLS) throw new Error(`its list has more than ${MOST_TOOLS} tools`);
      cursor = answer.nextCursor;
      if (cursor === undefined) return tools;
    }
    throw new Error(`its list of tools has more than ${MOST_PAGES} pages`);
  }

  /**
   * Calls a tool. The result is not validated against the schema that the server declares, because
   * this client does not rely on it.
   * @throws RequestRefused if the server rejects the request. After any other error it is unknown
   * whether the call took effect.
   */
  async call(
    name: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const timeout = Math.min(this.#server.timeoutMs + BACKSTOP_MS, 2_147_483_647);
    try {
      return await this.#client.request(
        { method: "tools/call", params: { name, arguments: { ...input } } },
        { signal, timeout },
      );
    } catch (error) {
      if (!(error instanceof this.#vendor.ProtocolError)) throw error;
      const reason = error.message.trim();
      if (error.code === STREAM_ENDED) throw new Error(reason, { cause: error });
      throw new RequestRefused(reason === "" ? "MCP tool execution failed" : reason, {
        cause: error,
      });
    }
  }

  /**
   * Returns whether an error means that the server has discarded this session and ignored the
   * request.
   */
  isForgotten(error: unknown): boolean {
    if (!(error instanceof this.#vendor.SdkHttpError)) return false;
    return error.status === 404 || (error.status === 400 && /session/i.test(error.message));
  }

  /** Returns whether an error means that the response did not arrive in time. */
  isTimeout(error: unknown): boolean {
    return (
      error instanceof this.#vendor.SdkError &&
      error.code === this.#vendor.SdkErrorCode.RequestTimeout
    );
  }

  /**
   * Closes the connection and ends the process of a local server with its process group. Never
   * rejects.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#line.close();
    // the session is discarded, so errors are irrelevant
    await this.#client.close().catch(() => undefined);
  }

  #isFinal(error: unknown): boolean {
    if (error instanceof this.#vendor.SdkHttpError) return [401, 403].includes(error.status ?? 0);
    return error instanceof Error && "code" in error && FINAL_CODES.includes(error.code);
  }

  #closed(events: SessionEvents): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    if (!this.#isClosing) events.lost(this);
  }
}

function stdioLine(vendor: ClientVendor, server: ResolvedServer): ServerChannel {
  if (server.endpoint.kind !== "stdio") throw new TypeError("not a local server");
  const transport = new StdioTransport(
    server.endpoint,
    server.maxMessageBytes,
    vendor.parseJSONRPCMessage,
  );
  return {
    connect: (client, options) => client.connect(transport, options),
    account: () => transport.account,
    // eslint-disable-next-line no-restricted-syntax -- once per connection
    get pid() {
      return transport.pid;
    },
    close: () => transport.close(),
  };
}

function httpLine(
  vendor: ClientVendor,
  server: ResolvedServer,
  redact: ErrorText,
  listChanged: () => void,
): ServerChannel {
  if (server.endpoint.kind !== "http") throw new TypeError("not a remote server");
  const { url, headers } = server.endpoint;
  const traffic = new HttpTraffic(server.maxMessageBytes, redact, {
    listeningEnded: listChanged, // changes may be missed from now on
    // A response that has already arrived takes precedence. A second response is ignored.
    streamEnded: (id, reason) =>
      transport.onmessage?.({ jsonrpc: "2.0", id, error: { code: STREAM_ENDED, message: reason } }),
  });
  const transport: StreamableHTTPClientTransport = new vendor.StreamableHTTPClientTransport(url, {
    fetch: traffic.fetch,
    requestInit: { headers },
  });
  return {
    connect: (client, options) => client.connect(transport, options),
    account: () => "",
    pid: undefined,
    close: () => sayGoodbye(transport),
  };
}

/** Ends the session at the server, if it responds in time, and closes all streams. */
async function sayGoodbye(transport: StreamableHTTPClientTransport): Promise<void> {
  // optional in the protocol
  await firstEnding(transport.terminateSession(), { timeoutMs: GOODBYE_MS });
  await transport.close().catch(() => undefined);
}
