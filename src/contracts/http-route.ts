import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { RunValue } from "./run-info.js";
import type { Awaitable } from "./types.js";

/** What somebody may do over HTTP: look, answer reviews, steer everything; or, as a program, call what is shared. */
export type PrincipalRole = "viewer" | "reviewer" | "operator" | "caller";

/** Who sends a request. */
export interface Principal {
  readonly name: string;
  readonly role: PrincipalRole;
  /** Roles whose reviews it may answer. Default: those without a required role. */
  readonly reviewRoles?: readonly string[] | undefined;
  /** The person or tenant whose data it sees. Default: no limit. */
  readonly owner?: string | undefined;
  /** Names of what it may call. Default: everything that is shared. */
  readonly may?: readonly string[] | undefined;
  /** What its runs know of it: the `values` of each run that it starts. */
  readonly values?: readonly RunValue[] | undefined;
}

/** Says who sends a request, by its headers; the body can't be read. `undefined` refuses it with 401, and so does an error. */
export type Authenticate = (request: Request) => Awaitable<Principal | undefined>;

/**
 * An address that a plugin serves wherever the ensemble has an HTTP listener; contributed to `Tokens.HttpRoute`. Host, origin, size and time of requests
 * are checked by the listener, and who may use it.
 */
export interface HttpRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Begins with `/`. One that ends with `/*` takes everything below it. The longest path that fits is taken. */
  readonly path: string;
  /**
   * The least role: a reviewer may do what a viewer may, an operator everything. `caller` admits callers and operators, `any` every principal; `public`
   * needs none.
   */
  readonly role: PrincipalRole | "any" | "public";
  /** Answers a request; its signal tells that the client is gone. What it throws becomes a 500 without its text. `principal` is absent on public routes only. */
  handle(request: Request, principal: Principal | undefined): Awaitable<Response>;
  /** Takes over the connection of a request that asks for it (WebSocket), after the same checks. Default: such requests are refused. */
  upgrade?(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    principal: Principal | undefined,
  ): Awaitable<void>;
}
