import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Fields } from "../util/objects.js";
import type { Service } from "./service.js";
import type { Awaitable } from "./types.js";

/** The address of an ensemble that starts. */
export interface MountAddress {
  /** The port of `start()`. 0: any free port. `undefined`: the service has no listener. */
  readonly port: number | undefined;
  /** The address to listen on, without brackets. */
  readonly host: string;
  /** Names in the Host header that the listener admits: lower case, without port. */
  readonly allowedHosts: readonly string[];
  /** `publicUrl` of `start()`. */
  readonly publicUrl: string | undefined;
  /** Whether other machines can reach the listener. */
  readonly isReachable: boolean;
  /** The service that starts. */
  readonly service: Service;
}

/** The part of a service's listener that a plugin serves. */
export interface MountedHttp {
  /**
   * Whether the plugin answers requests for this path. The service's own routes come first, routes
   * of `Tokens.HttpRoute` last.
   */
  serves(path: string): boolean;
  /** Answers a request, after its own checks of host, origin and access. Must not reject. */
  handle(request: IncomingMessage, response: ServerResponse): Awaitable<void>;
  /** Upgrades a connection, after the same checks. Must not reject. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Awaitable<void>;
  /** Returns fields that `GET /api/status` of the service adds. They are public. */
  status?(): Fields;
  /** Called when the service listens. `url`: the address under which others reach it. */
  listening?(at: { readonly url: string; readonly port: number }): void;
  /** Ends all connections that `upgrade` has taken over. Called when the service has drained. */
  close(): Awaitable<void>;
}

/**
 * Serves a part of the HTTP listener of a started ensemble with separate checks, as a web page
 * with other accounts than the service needs them. Contributed to `Tokens.HttpMount`.
 */
export interface HttpMount {
  /**
   * Called by `start()` before the port is opened. `undefined`: nothing is mounted.
   * @throws an error that rejects `start()`
   */
  mount(address: MountAddress): Awaitable<MountedHttp | undefined>;
}
