import type { IncomingMessage } from "node:http";
import { createHash, timingSafeEqual } from "node:crypto";

/** The reason why a request is refused. */
export interface RequestRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * A stable code in capitals, for listeners that answer in JSON. Default: derived from the status.
   */
  readonly error?: string;
}

/** The rules of a gate for requests, and its headers for browsers. */
export interface HttpGateOptions {
  /** Names in lower case, without port; IPv6 addresses in brackets. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: ReadonlySet<string>;
  /** Bearer token. Default: none is required. */
  readonly token?: string | undefined;
  readonly methods: readonly string[];
  /** Headers that pages of allowed origins may send. */
  readonly requestHeaders: string;
  /** Headers of responses that pages of allowed origins may read. */
  readonly responseHeaders: string;
  /**
   * Set if the listener serves pages. Their requests are admitted, because their Origin equals the
   * Host header. Requests without an Origin that browsers mark as cross-site are refused, except
   * navigation to this path. Requests that change state must be `application/json` and have an
   * Origin or a bearer token. Default: the listener serves no pages.
   */
  readonly pagePath?: string | undefined;
}

/** Returns a digest of a secret, for comparisons in constant time: digests have equal lengths. */
export function secretDigest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** Returns the name in a Host header. Empty for an invalid header. */
function hostName(host: string | undefined): string {
  if (host === undefined || /[\s/?#@\\]/.test(host) || !URL.canParse(`http://${host}`)) return "";
  return new URL(`http://${host}`).hostname;
}

/**
 * Whether the origin of a page equals the requested address: scheme, name and port. A page behind a
 * proxy with TLS must be an allowed origin.
 */
function isOwnOrigin(origin: string, host = ""): boolean {
  return URL.canParse(`http://${host}`) && new URL(`http://${host}`).origin === origin;
}

const CHANGES: ReadonlySet<string> = new Set(["POST", "PUT", "DELETE"]);

/**
 * Returns the reason why a request may not change state. A page of another site can send a form
 * without permission, but neither JSON nor a bearer token.
 */
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

/** Checks requests by their headers alone, before the body is read. */
export class HttpGate {
  readonly #options: Omit<HttpGateOptions, "token">;
  readonly #token: Buffer | undefined;

  constructor({ token, ...options }: HttpGateOptions) {
    this.#options = options;
    this.#token = token === undefined ? undefined : secretDigest(token);
  }

  /**
   * Returns the first problem of a request, if there is one. Names and origins are checked first,
   * against web pages that know a path.
   */
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
    if (method === "OPTIONS") return undefined; // a preflight request, which has no token
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

  /** Returns the headers that permit a page of this origin to read the response. */
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

  /** Compares the token in constant time. */
  #knows(authorization: string | undefined): boolean {
    const sent = /^Bearer +(.+)$/i.exec(authorization ?? "")?.[1];
    return (
      this.#token !== undefined &&
      timingSafeEqual(secretDigest(sent ?? ""), this.#token) &&
      sent !== undefined
    );
  }
}
