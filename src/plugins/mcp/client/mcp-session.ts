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

/** How long a remote server may take to say goodbye. */
const GOODBYE_MS = 500;
/** The time limit of a call is kept by whoever calls; the protocol's client has its own a little later, in case nobody does. */
const BACKSTOP_MS = 500;
const MOST_PAGES = 64;
const MOST_TOOLS = 1_000;
/** Marks an answer that was made here because none will come. Outside the codes that servers use. */
const STREAM_ENDED = -32_999;

/** What a session tells whoever holds it. */
export interface SessionEvents {
  /** The server's list of tools may have changed. */
  listChanged(): void;
  /** The connection is gone, and not because `close` was called. */
  lost(session: McpSession): void;
}

/** One of the two ways to talk to a server, with what is known about its end. */
interface ServerChannel {
  connect(
    client: Client,
    options: { readonly signal: AbortSignal; readonly timeout: number },
  ): Promise<void>;
  account(): string;
  readonly pid: number | undefined;
  close(): Promise<void>;
}

/** The server refused the request itself: an unknown tool, arguments it does not take. The connection is as good as before. */
export class RequestRefused extends Error {
  constructor(message: string, options: ErrorOptions) {
    super(message, options);
    this.name = "RequestRefused";
  }
}

/** No connection came about. */
export class OpeningFailed extends Error {
  /** What is known about the server's end; empty where nothing is. */
  readonly account: string;
  /** Whether further attempts are in vain: no such program, no right to enter. */
  readonly isFinal: boolean;

  constructor(cause: unknown, account: string, isFinal: boolean) {
    super(messageOf(cause), { cause });
    this.name = "OpeningFailed";
    [this.account, this.isFinal] = [account, isFinal];
  }
}

const FINAL_CODES: readonly unknown[] = ["ENOENT", "EACCES", "ENOTDIR"];

/** A connection to a server, from the handshake on until it breaks or is closed. */
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

  /** Reaches a server and shakes hands. Whatever goes wrong, nothing is left behind. @throws OpeningFailed; ValidationError where the client is not installed. */
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
    client.onerror = () => undefined; // what matters ends a request or the connection, and is told there
    client.setNotificationHandler("notifications/tools/list_changed", () => events.listChanged());
    try {
      await line.connect(client, { signal, timeout: server.connectTimeoutMs });
      return session;
    } catch (error) {
      const failed = new OpeningFailed(error, line.account(), session.#isFinal(error)); // the account as it is before the process is ended
      await session.close();
      throw failed;
    }
  }

  /** Whether it can still be talked over, as far as is known. */
  get isAlive(): boolean {
    return this.#isAlive && !this.#isClosing;
  }

  /** Process id of a local server. */
  get pid(): number | undefined {
    return this.#line.pid;
  }

  /** What is known about the server's end. */
  get account(): string {
    return this.#line.account();
  }

  /** All tools of the server, page by page. */
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
   * Calls a tool. What it gives back is not checked against the schema that the server declares: nothing here relies on it.
   * @throws RequestRefused where the server refuses the request; what else is thrown means that nobody knows whether the call took effect.
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

  /** Whether an error says that the server has forgotten this session, so that the request was not looked at. */
  isForgotten(error: unknown): boolean {
    if (!(error instanceof this.#vendor.SdkHttpError)) return false;
    return error.status === 404 || (error.status === 400 && /session/i.test(error.message));
  }

  /** Whether an error says that the answer did not come in time. */
  isTimeout(error: unknown): boolean {
    return (
      error instanceof this.#vendor.SdkError &&
      error.code === this.#vendor.SdkErrorCode.RequestTimeout
    );
  }

  /** Ends the connection, and the process of a local server with all it has started. Never fails. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#line.close();
    await this.#client.close().catch(() => undefined); // it is of no further use, whatever it has to say
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
    // An answer that has come already is the one that counts; a second one is ignored.
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

/** Tells the server that the session is over, as far as it listens, and closes all streams. */
async function sayGoodbye(transport: StreamableHTTPClientTransport): Promise<void> {
  await firstEnding(transport.terminateSession(), { timeoutMs: GOODBYE_MS }); // a courtesy
  await transport.close().catch(() => undefined);
}
