import type { Transport } from "@modelcontextprotocol/server";
import type { Connection } from "./connection.js";
import type { Offer } from "../../shared/offers/offer.js";
import type { ResolvedSettings } from "./mcp-server-options.js";
import type { EndpointParts } from "./http-endpoint.js";
import type { Sdk } from "./sdk.js";
import type {
  McpHttpEndpoint,
  McpHttpOptions,
  McpServer,
  McpTransport,
  ServerPorts,
} from "./types.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview, requireFunction } from "../../../contracts/validation.js";
import { CallDispatcher } from "./call-dispatcher.js";
import { CallSlots } from "./call-slots.js";
import { serveTransport } from "./connection.js";
import { listen } from "./http-endpoint.js";
import { inputChecksOf } from "./input-checks.js";
import { resolveHttpOptions } from "./mcp-server-options.js";
import { protocolServers } from "./protocol-server.js";
import { loadSdk } from "./sdk.js";
import { guardStdin, reserveStdout } from "./stdio.js";

/** An endpoint that can be closed. */
type ServerEndpoint = Pick<Connection, "close">;

/** The server behind `mcpServer()`. */
export class OfferingServer implements McpServer {
  readonly #settings: ResolvedSettings;
  readonly #ports: ServerPorts;
  readonly #offers: ReadonlyMap<string, Offer>;
  readonly #slots: CallSlots;
  readonly #endpoints = new Set<ServerEndpoint>();
  #stdioServed = false;
  #closing: Promise<void> | undefined;

  constructor(settings: ResolvedSettings, offers: ReadonlyMap<string, Offer>, ports: ServerPorts) {
    this.#settings = settings;
    this.#offers = offers;
    this.#ports = ports;
    this.#slots = new CallSlots(settings.maxConcurrentCalls, settings.maxWaitingCalls);
  }

  async stdio(): Promise<void> {
    if (this.#stdioServed) throw new ValidationError("The MCP server serves stdio already");
    this.#stdioServed = true;
    try {
      const parts = await this.#parts();
      const { maxMessageBytes: maxBufferSize } = this.#settings;
      const stdout = reserveStdout();
      const stdin = guardStdin(maxBufferSize);
      try {
        const { StdioServerTransport } = parts.sdk;
        const streams = [stdin.stream, stdout.stream] as const;
        await this.#connect(parts, new StdioServerTransport(...streams, { maxBufferSize }));
      } finally {
        stdin.release();
        stdout.release();
      }
    } finally {
      this.#stdioServed = false;
    }
  }

  async serve(transport: McpTransport): Promise<void> {
    for (const method of ["start", "send", "close"] as const) {
      // JavaScript callers may pass any value
      const { [method]: given } = (transport ?? {}) as Partial<McpTransport>;
      requireFunction(
        `serve() transport.${method}, of ${preview(typeof transport)},`,
        given ?? null,
      );
    }
    // the shape was checked; the SDK validates the messages
    await this.#connect(await this.#parts(), transport as unknown as Transport);
  }

  async http(options: McpHttpOptions = {}): Promise<McpHttpEndpoint> {
    const resolved = resolveHttpOptions(options);
    const { url, close } = await listen(await this.#parts(), resolved);
    const endpoint = { url, close: () => close().finally(() => this.#endpoints.delete(endpoint)) };
    this.#endpoints.add(endpoint);
    if (this.#closing !== undefined) {
      await endpoint.close(); // closed while it was starting
      this.#refuseClosed();
    }
    return endpoint;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    try {
      await Promise.all([...this.#endpoints].map((endpoint) => endpoint.close()));
    } finally {
      await this.#ports.dispose();
    }
  }

  #refuseClosed(): void {
    if (this.#closing !== undefined) throw new ValidationError("The MCP server has been closed");
  }

  /** Returns the parts of a new endpoint. Its own dispatcher ends the endpoint's calls. */
  async #parts(): Promise<EndpointParts> {
    this.#refuseClosed();
    const sdk: Sdk = await loadSdk();
    await this.#ports.boot();
    const inputChecks = await inputChecksOf(this.#offers.values());
    this.#refuseClosed();
    const { callTimeoutMs, maxMessageBytes, name } = this.#settings;
    const dispatcher = new CallDispatcher(sdk, {
      offers: this.#offers,
      inputChecks,
      slots: this.#slots,
      timeoutMs: callTimeoutMs,
      onError: this.#report,
    });
    return {
      sdk,
      dispatcher,
      createServer: protocolServers(sdk, dispatcher, this.#settings),
      maxMessageBytes,
      name,
      onError: this.#report,
    };
  }

  async #connect(parts: EndpointParts, transport: Transport): Promise<void> {
    const connection = serveTransport(parts, transport);
    this.#endpoints.add(connection);
    try {
      await connection.closed;
    } finally {
      this.#endpoints.delete(connection);
    }
  }

  /** Reports an error to the observer. An observer that throws has no effect. */
  readonly #report = (error: Error): void => {
    try {
      this.#settings.onError?.(error);
    } catch {
      // there is no other observer to report to
    }
  };
}
