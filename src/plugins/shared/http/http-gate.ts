import type { IncomingMessage } from "node:http";
import { createHash, timingSafeEqual } from "node:crypto";

/** Why a request goes no further. */
export interface RequestRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stable word in capitals, for listeners that answer in JSON. Default: by the status. */
  readonly error?: string;
}

/** Which requests a gate admits, and what browsers learn of that. */
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
  /**
   * The listener serves pages. Their requests are admitted: their Origin is that of the Host
   * header. Requests without an Origin that browsers mark as those of another site are refused,
   * except navigation to this path. Requests that change something need `application/json`, and an
   * Origin or a bearer token. Default: the listener serves no pages.
   */
  readonly pagePath?: string | undefined;
}

/** A digest of a secret, for comparing in constant time: digests have one length. */
export function secretDigest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** The name in a Host header; empty for what is none. */
function hostName(host: string | undefined): string {
  if (host === undefined || /[\s/?#@\\]/.test(host) || !URL.canParse(`http://${host}`)) return "";
  return new URL(`http://${host}`).hostname;
}

/** Whether a page comes from the address that it asks: scheme, name and port are equal. Proxies with TLS are allowed origins. */
function isOwnOrigin(origin: string, host = ""): boolean {
  return URL.canParse(`http://${host}`) && new URL(`http://${host}`).origin === origin;
}

const CHANGES: ReadonlySet<string> = new Set(["POST", "PUT", "DELETE"]);

/** Why a request must not change anything. A page of another site can send a form without asking, but no JSON and no bearer token. */
function changeRefusal({ headers, method = "" }: IncomingMessage): RequestRefusal | undefined {
  if (!CHANGES.has(method)) return undefined;
  if (headers.origin === undefined && !/^Bearer +./i.test(headers.authorization ?? ""))
    return {
      status: 403,
      error: "FORBIDDEN_ORIGIN",
      message: "Forbidden: a request that changes something needs an Origin or a bearer token",
    };
  if (method !== "DELETE" && !/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? ""))
    return {
      status: 415,
      error: "NOT_JSON",
      message: "Unsupported media type: Content-Type must be application/json",
    };
  return undefined;
}

/** Judges requests by their headers alone, before a byte of the body is read. */
export class HttpGate {
  readonly #options: Omit<HttpGateOptions, "token">;
  readonly #token: Buffer | undefined;

  constructor({ token, ...options }: HttpGateOptions) {
    this.#options = options;
    this.#token = token === undefined ? undefined : secretDigest(token);
  }

  /** The first thing that is wrong with a request, if anything is. Names and origins come first: they stop web pages, which might know a path. */
  refusal(request: IncomingMessage, isPath: (path: string) => boolean): RequestRefusal | undefined {
    const { headers, method = "", url = "" } = request;
    if (!this.#options.allowedHosts.includes(hostName(headers.host)))
      return {
        status: 403,
        error: "FORBIDDEN_HOST",
        message: "Forbidden: this Host is not allowed",
      };
    if (!this.#isOriginAllowed(request))
      return {
        status: 403,
        error: "FORBIDDEN_ORIGIN",
        message: "Forbidden: this Origin is not allowed",
      };
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
    if (!methods.includes(method))
      return { status: 405, message: "Method not allowed", headers: { Allow: methods.join(", ") } };
    return this.#options.pagePath === undefined ? undefined : changeRefusal(request);
  }

  /** The headers with which a browser lets a page of this origin read the answer. */
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

  #isOriginAllowed({ headers, method, url }: IncomingMessage): boolean {
    const { origin } = headers;
    const { allowedOrigins, pagePath } = this.#options;
    if (origin !== undefined && allowedOrigins.has(origin)) return true;
    if (pagePath === undefined) return origin === undefined;
    if (origin !== undefined) return isOwnOrigin(origin, headers.host);
    const site = headers["sec-fetch-site"];
    if (site === undefined || site === "same-origin" || site === "none") return true;
    return (
      method === "GET" &&
      headers["sec-fetch-mode"] === "navigate" &&
      url?.replace(/[?#].*$/, "") === pagePath
    );
  }

  /** Takes the same time for every value. */
  #knows(authorization: string | undefined): boolean {
    const sent = /^Bearer +(.+)$/i.exec(authorization ?? "")?.[1];
    return (
      this.#token !== undefined &&
      timingSafeEqual(secretDigest(sent ?? ""), this.#token) &&
      sent !== undefined
    );
  }
}
