import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { RunValue } from "./run-info.js";
import type { Awaitable } from "./types.js";

/**
 * Permission of a principal over HTTP: to view, to answer reviews, to control everything; or, as a
 * program, to call shared functions, or to report runs to a dashboard.
 */
export type PrincipalRole = "viewer" | "reviewer" | "operator" | "caller" | "reporter";

/** The authenticated sender of a request. */
export interface Principal {
  readonly name: string;
  readonly role: PrincipalRole;
  /** Roles whose reviews the principal may answer. Default: those without a required role. */
  readonly reviewRoles?: readonly string[] | undefined;
  /** The person or tenant whose data are visible. Default: no limit. */
  readonly owner?: string | undefined;
  /** Names of the shared functions that the principal may call. Default: all. */
  readonly may?: readonly string[] | undefined;
  /** The `values` of each run that the principal starts. */
  readonly values?: readonly RunValue[] | undefined;
}

/**
 * Authenticates a request by its headers; the body can't be read. `undefined`, or an error, refuses
 * it with 401.
 */
export type Authenticate = (request: Request) => Awaitable<Principal | undefined>;

/**
 * A route that a plugin serves on each HTTP listener of the ensemble. Contributed to
 * `Tokens.HttpRoute`. The listener checks host, origin, size and time of requests, and the role.
 */
export interface HttpRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /**
   * Begins with `/`. A path that ends with `/*` matches every path below it. A segment `{name}`
   * matches any one segment of at most 1,000 characters, which `handle` receives decoded. The most
   * exact match is taken: the path itself, then parameters, then the longest with a star.
   */
  readonly path: string;
  /**
   * The minimum role. A reviewer may also do what a viewer may; an operator may do everything.
   * `caller` admits callers and operators, `any` every principal but a reporter; `public` needs
   * none.
   */
  readonly role: PrincipalRole | "any" | "public";
  /**
   * Answers a request. Its signal aborts when the client disconnects. An error becomes a 500
   * without its text. `principal` is absent on public routes only. `parameters`: the segments of
   * the path that match `{name}`, by name.
   */
  handle(
    request: Request,
    principal: Principal | undefined,
    parameters: Readonly<Record<string, string>>,
  ): Awaitable<Response>;
  /**
   * Upgrades the connection of a request (WebSocket), after the same checks. Default: refuses
   * upgrades.
   */
  upgrade?(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    principal: Principal | undefined,
  ): Awaitable<void>;
}
