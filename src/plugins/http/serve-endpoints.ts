import type { HttpRoute, Principal } from "../../contracts/http-route.js";
import type { Awaitable } from "../../contracts/types.js";
import type { HttpSettings } from "./http-options.js";
import { toError } from "../../util/errors.js";
import { checkedPrincipal } from "../shared/http/principals.js";
import { isAdmitted } from "../shared/http/routes.js";
import { failureAnswer, reportFailure } from "./answers.js";
import { HttpRefusal, notFoundRefusal } from "../shared/http/http-refusal.js";

/** Answers a request in the form of the web platform. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** A handler that other listeners can also serve. */
export interface RoutedHandler extends FetchHandler {
  /**
   * The endpoints as routes for `Tokens.HttpRoute`. The listener authenticates the caller, and
   * checks host, origin, size and time. It ignores the options `authenticate` and `allowedOrigins`
   * of the handler.
   */
  readonly routes: readonly HttpRoute[];
}

/** An authorized request with its principal. */
export interface HttpExchange {
  readonly request: Request;
  readonly principal: Principal;
  /** The part of the path after the path of the handler. Empty for the path of the handler. */
  readonly id: string;
}

/** The handler of a method at a path. */
export interface ServedEndpoint {
  readonly method: "GET" | "POST" | "DELETE";
  /** The part after the path of the handler. */
  readonly place: "" | "/:id" | "/:id/stream" | "/:id/usage";
  readonly role: HttpRoute["role"];
  handle(exchange: HttpExchange): Awaitable<Response>;
}

/** Valid ids: at most 200 characters, without control characters. */
const ID = /^[^\u0000-\u001f\u007f-\u009f]{1,200}$/;

/**
 * Creates a handler of endpoints below `settings.path`. A path with an invalid id is answered with
 * 404.
 */
export function serveEndpoints(
  settings: HttpSettings,
  endpoints: readonly ServedEndpoint[],
  isId: (id: string) => boolean = (id) => ID.test(id),
): RoutedHandler {
  const handler = new EndpointHandler(settings, endpoints, isId);
  return Object.assign((request: Request) => handler.fetch(request), { routes: handler.routes() });
}

class EndpointHandler {
  readonly #settings: HttpSettings;
  readonly #endpoints: readonly ServedEndpoint[];
  readonly #isId: (id: string) => boolean;

  constructor(
    settings: HttpSettings,
    endpoints: readonly ServedEndpoint[],
    isId: (id: string) => boolean,
  ) {
    this.#settings = settings;
    this.#endpoints = endpoints;
    this.#isId = isId;
  }

  /** Never rejects. */
  async fetch(request: Request): Promise<Response> {
    const cors = this.#corsHeaders(request);
    const answer = await this.#guarded(request).catch((error: unknown) =>
      this.#failure(error, request),
    );
    for (const [name, value] of Object.entries(cors)) answer.headers.set(name, value);
    return answer;
  }

  routes(): readonly HttpRoute[] {
    const { path } = this.#settings;
    const places = new Map<string, HttpRoute>();
    for (const { method, place, role } of this.#endpoints) {
      const at = place === "" ? path : `${path}/*`;
      const known = places.get(`${method} ${at}`);
      places.set(`${method} ${at}`, {
        method,
        path: at,
        role: known === undefined || known.role === role ? role : "any",
        handle: (request, principal) => this.#routed(request, principal),
      });
    }
    return [...places.values()];
  }

  /** Checks a request as a listener does, and answers it. */
  async #guarded(request: Request): Promise<Response> {
    const candidates = this.#candidates(request);
    this.#refuseForeign(request);
    const allow = [...new Set(candidates.map(({ method }) => method))].join(", ");
    if (request.method === "OPTIONS")
      return new Response(null, { headers: { Allow: allow }, status: 204 });
    if (!candidates.some(({ method }) => method === request.method))
      throw new HttpRefusal(405, "METHOD_NOT_ALLOWED", "Method not allowed", {
        headers: { Allow: allow },
      });
    return this.#respond(request, await this.#principal(request));
  }

  async #routed(request: Request, principal: Principal | undefined): Promise<Response> {
    try {
      if (principal === undefined) throw unauthorized();
      return await this.#respond(request, principal);
    } catch (error) {
      return this.#failure(error, request);
    }
  }

  #failure(error: unknown, { signal }: Request): Response {
    return failureAnswer(error, { onError: this.#settings.onError, signal });
  }

  async #respond(request: Request, principal: Principal): Promise<Response> {
    const endpoint = this.#candidates(request).find(({ method }) => method === request.method);
    if (endpoint === undefined) throw notFoundRefusal();
    if (!isAdmitted(principal, endpoint.role)) throw forbidden();
    return endpoint.handle({ request, principal, id: this.#steps(request)[0] ?? "" });
  }

  /** Returns the endpoints of the path. @throws HttpRefusal 404 for an unknown path. */
  #candidates(request: Request): readonly ServedEndpoint[] {
    const [id, ...below] = this.#steps(request);
    const place = id === undefined ? "" : ["/:id", ...below].join("/");
    const found = this.#endpoints.filter((endpoint) => endpoint.place === place);
    if (found.length === 0) throw notFoundRefusal();
    return found;
  }

  /**
   * Returns the decoded parts of the path below the path of the handler.
   * @throws HttpRefusal 404 for another path or an invalid id.
   */
  #steps(request: Request): readonly string[] {
    const { path } = this.#settings;
    const { pathname } = new URL(request.url);
    if (pathname === path || pathname === `${path}/`) return [];
    if (!pathname.startsWith(`${path}/`)) throw notFoundRefusal();
    return pathname
      .slice(path.length + 1)
      .split("/")
      .map((step) => this.#idOf(step));
  }

  #idOf(step: string): string {
    let id: string;
    try {
      id = decodeURIComponent(step);
    } catch {
      throw notFoundRefusal();
    }
    if (!this.#isId(id)) throw notFoundRefusal();
    return id;
  }

  async #principal(request: Request): Promise<Principal> {
    let principal: Principal | undefined;
    try {
      principal = checkedPrincipal(await this.#settings.authenticate(request));
    } catch (error) {
      const { onError } = this.#settings;
      if (onError === undefined) reportFailure(toError(error));
      else onError(toError(error));
    }
    if (principal === undefined) throw unauthorized();
    return principal;
  }

  /** Refuses requests of pages of other sites. @throws HttpRefusal 403 */
  #refuseForeign(request: Request): void {
    const origin = request.headers.get("origin");
    if (origin === null) {
      if (request.headers.get("sec-fetch-site") === "cross-site") throw forbidden("CROSS_SITE");
    } else if (!this.#settings.allowedOrigins.has(origin) && !isOwn(origin, request))
      throw forbidden("CROSS_SITE");
  }

  /**
   * Returns the CORS headers. Browsers let pages of other sites read only responses with these
   * headers.
   */
  #corsHeaders(request: Request): Readonly<Record<string, string>> {
    const { allowedOrigins } = this.#settings;
    if (allowedOrigins.size === 0) return {};
    const origin = request.headers.get("origin");
    if (origin === null || !allowedOrigins.has(origin)) return { Vary: "Origin" };
    return {
      Vary: "Origin",
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Credentials": "true",
      "Access-Control-Allow-Methods": "GET, POST, DELETE",
      "Access-Control-Allow-Headers": "authorization, content-type, accept",
      "Access-Control-Expose-Headers": "x-agentensemble-run-id, x-vercel-ai-ui-message-stream",
    };
  }
}

/**
 * Returns whether a page of this origin comes from the called server. Schemes are not compared,
 * because a proxy may terminate TLS.
 */
function isOwn(origin: string, request: Request): boolean {
  if (!URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  return host !== "" && host === (request.headers.get("host") ?? new URL(request.url).host);
}

function unauthorized(): HttpRefusal {
  return new HttpRefusal(401, "UNAUTHORIZED", "Sign in first", {
    headers: { "WWW-Authenticate": "Bearer" },
  });
}

export function forbidden(code = "FORBIDDEN"): HttpRefusal {
  const message = code === "CROSS_SITE" ? "Pages of this site may not ask" : "You may not do this";
  return new HttpRefusal(403, code, message);
}

/**
 * Checks the permission for this name.
 * @throws HttpRefusal 403 if `may` of the principal does not list the name.
 */
export function requireMay(
  { may }: Principal,
  { name }: { readonly name?: string | undefined },
): void {
  if (may !== undefined && (name === undefined || !may.includes(name))) throw forbidden();
}
