import type { IncomingMessage } from "node:http";
import type { ResolvedHttpOptions } from "./mcp-server-options.js";
import type { Sdk } from "./sdk.js";
import { createHash, timingSafeEqual } from "node:crypto";

/** Why a request goes no further. */
export interface RequestRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of JSON-RPC. Default -32,000. */
  readonly code?: number;
}

const ALLOWED_HEADERS =
  "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id";
const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Judges requests by their headers alone, before a byte of the body is read. */
export class HttpGate {
  readonly #sdk: Sdk;
  readonly #options: Omit<ResolvedHttpOptions, "token">;
  readonly #token: Buffer | undefined;

  constructor(sdk: Sdk, { token, ...options }: ResolvedHttpOptions) {
    this.#sdk = sdk;
    this.#options = options;
    this.#token = token === undefined ? undefined : digestOf(token);
  }

  /** The first thing that is wrong with a request, if anything is. Names and origins come first: they stop web pages, which might know a path. */
  refusal({ headers, method, url = "" }: IncomingMessage): RequestRefusal | undefined {
    const host = this.#sdk.validateHostHeader(headers.host, [...this.#options.allowedHosts]);
    if (!host.ok) return { status: 403, message: "Forbidden: this Host is not allowed" };
    const { origin } = headers;
    if (origin !== undefined && !this.#options.allowedOrigins.has(origin))
      return { status: 403, message: "Forbidden: this Origin is not allowed" };
    if (
      !URL.canParse(url, "http://host") ||
      new URL(url, "http://host").pathname !== this.#options.path
    )
      return { status: 404, message: "Not found" };
    if (method === "OPTIONS") return undefined; // a browser's question, which carries no token
    if (this.#token !== undefined && !this.#knows(headers.authorization)) {
      return {
        status: 401,
        message: "Unauthorized: a bearer token is needed",
        headers: { "WWW-Authenticate": "Bearer" },
      };
    }
    if (method !== "POST" && method !== "GET" && method !== "DELETE") {
      return {
        status: 405,
        message: "Method not allowed",
        headers: { Allow: "GET, POST, DELETE" },
      };
    }
    return undefined;
  }

  /** What a browser needs to be told so that it lets a page of this origin read the answer. */
  corsHeaders(origin: string | undefined): Readonly<Record<string, string>> {
    if (origin === undefined || !this.#options.allowedOrigins.has(origin)) return {};
    return {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Methods": "GET, POST, DELETE",
      "Access-Control-Allow-Headers": ALLOWED_HEADERS,
      "Access-Control-Expose-Headers": "mcp-session-id, mcp-protocol-version, www-authenticate",
      Vary: "Origin",
    };
  }

  /** In the same time whatever is sent: digests have one length. */
  #knows(authorization: string | undefined): boolean {
    const sent = /^Bearer +(.+)$/i.exec(authorization ?? "")?.[1];
    return (
      this.#token !== undefined &&
      timingSafeEqual(digestOf(sent ?? ""), this.#token) &&
      sent !== undefined
    );
  }
}
