import type { IncomingMessage } from "node:http";
import { createHash, timingSafeEqual } from "node:crypto";

/** Why a request goes no further. */
export interface RequestRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Who may come through a gate, and what browsers are told of it. */
export interface HttpGateOptions {
  /** Names in small letters, without port; IPv6 addresses in brackets. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: ReadonlySet<string>;
  /** Bearer token. Default: none is asked for. */
  readonly token?: string | undefined;
  readonly methods: readonly string[];
  /** Headers that pages of allowed origins may send. */
  readonly requestHeaders: string;
  /** Headers of answers that they may read. */
  readonly responseHeaders: string;
}

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The name in a Host header; empty for what is none. */
function hostName(host: string | undefined): string {
  if (host === undefined || /[\s/?#@\\]/.test(host) || !URL.canParse(`http://${host}`)) return "";
  return new URL(`http://${host}`).hostname;
}

/** Judges requests by their headers alone, before a byte of the body is read. */
export class HttpGate {
  readonly #options: Omit<HttpGateOptions, "token">;
  readonly #token: Buffer | undefined;

  constructor({ token, ...options }: HttpGateOptions) {
    this.#options = options;
    this.#token = token === undefined ? undefined : digestOf(token);
  }

  /** The first thing that is wrong with a request, if anything is. Names and origins come first: they stop web pages, which might know a path. */
  refusal(
    { headers, method = "", url = "" }: IncomingMessage,
    isPath: (path: string) => boolean,
  ): RequestRefusal | undefined {
    if (!this.#options.allowedHosts.includes(hostName(headers.host)))
      return { status: 403, message: "Forbidden: this Host is not allowed" };
    const { origin } = headers;
    if (origin !== undefined && !this.#options.allowedOrigins.has(origin))
      return { status: 403, message: "Forbidden: this Origin is not allowed" };
    if (!URL.canParse(url, "http://host") || !isPath(new URL(url, "http://host").pathname))
      return { status: 404, message: "Not found" };
    if (method === "OPTIONS") return undefined; // a browser's question, which carries no token
    if (this.#token !== undefined && !this.#knows(headers.authorization)) {
      return {
        status: 401,
        message: "Unauthorized: a bearer token is needed",
        headers: { "WWW-Authenticate": "Bearer" },
      };
    }
    const { methods } = this.#options;
    if (methods.includes(method)) return undefined;
    return { status: 405, message: "Method not allowed", headers: { Allow: methods.join(", ") } };
  }

  /** What a browser needs to be told so that it lets a page of this origin read the answer. */
  corsHeaders(origin: string | undefined): Readonly<Record<string, string>> {
    if (origin === undefined || !this.#options.allowedOrigins.has(origin)) return {};
    return {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Methods": this.#options.methods.join(", "),
      "Access-Control-Allow-Headers": this.#options.requestHeaders,
      "Access-Control-Expose-Headers": this.#options.responseHeaders,
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
