import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { RunValue } from "./run-info.js";
import type { Awaitable } from "./types.js";

/**
 * The permission of a principal over HTTP. `viewer`: may view runs. `reviewer`: may also answer
 * reviews. `operator`: may also control runs. `caller`: a program that may call shared functions.
 * `reporter`: a program that may report runs to a dashboard.
 */
export type PrincipalRole = "viewer" | "reviewer" | "operator" | "caller" | "reporter";

/** The authenticated sender of a request: a person or a program. */
export interface Principal {
  readonly name: string;
  readonly role: PrincipalRole;
  /**
   * The review roles of the principal. The principal may answer reviews that require one of these
   * roles. `"*"` stands for all roles. Default: only reviews without a required role.
   */
  readonly reviewRoles?: readonly string[] | undefined;
  /** The person or tenant whose data the principal may view. Default: all data. */
  readonly owner?: string | undefined;
  /** Names of the shared functions that the principal may call. Default: all. */
  readonly may?: readonly string[] | undefined;
  /** The `values` of every run that the principal starts. Default: none. */
  readonly values?: readonly RunValue[] | undefined;
}

/**
 * Authenticates a request by its headers. The body can't be read. If the function returns
 * `undefined` or fails, the request is refused with status 401.
 */
export type Authenticate = (request: Request) => Awaitable<Principal | undefined>;

/**
 * A route that a plugin serves on each HTTP listener of the ensemble. Contributed to
 * `Tokens.HttpRoute`. The listener checks host, origin, size and time of requests, and the role.
 */
export interface HttpRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /**
   * The path. It begins with `/`. A path that ends with `/*` matches every path below it. A segment
   * `{name}` matches one segment of at most 1,000 characters. `handle` receives the decoded
   * segment. If several routes match, an exact path takes precedence over parameters. Parameters
   * take precedence over the longest path with `/*`.
   */
  readonly path: string;
  /**
   * The required role. A reviewer also has the permissions of a viewer. An operator has all
   * permissions. `caller` admits callers and operators. `any` admits every principal except a
   * reporter. `public` admits everyone.
   */
  readonly role: PrincipalRole | "any" | "public";
  /**
   * Answers a request. The signal of the request aborts when the client disconnects. If the handler
   * throws, the client receives status 500 without the text of the error. `principal` is absent on
   * public routes only. `parameters` contains the segments that match `{name}`, by name.
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
