import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Fields } from "../util/objects.js";
import type { Service } from "./service.js";
import type { Awaitable } from "./types.js";

/** The address of a service that is starting. */
export interface MountAddress {
  /** The option `port` of `start()`. 0: any free port. `undefined`: the service has no listener. */
  readonly port: number | undefined;
  /** The address to listen on, without brackets. */
  readonly host: string;
  /** Host names that the listener accepts in the Host header: lower case, without port. */
  readonly allowedHosts: readonly string[];
  /** The option `publicUrl` of `start()`. */
  readonly publicUrl: string | undefined;
  /** Whether other machines can reach the listener. */
  readonly isReachable: boolean;
  /** The service that is starting. */
  readonly service: Service;
}

/** The handlers of a plugin on the listener of a service. */
export interface MountedHttp {
  /**
   * Returns whether the plugin answers requests for this path. The service's own routes take
   * precedence over these paths. These paths take precedence over routes of `Tokens.HttpRoute`.
   */
  serves(path: string): boolean;
  /**
   * Answers a request, after the plugin's own checks of host, origin and access. Must not reject.
   */
  handle(request: IncomingMessage, response: ServerResponse): Awaitable<void>;
  /** Upgrades a connection, after the same checks. Must not reject. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Awaitable<void>;
  /** Returns fields that `GET /api/status` of the service includes. Anyone can read them. */
  status?(): Fields;
  /** Called when the service listens. `url` is the address for clients. */
  listening?(at: { readonly url: string; readonly port: number }): void;
  /** Closes all connections that `upgrade` has taken over. Called when the service has drained. */
  close(): Awaitable<void>;
}

/**
 * Serves a part of the HTTP listener of a started ensemble with separate checks of host, origin and
 * access. An example is a web page whose users may not call the service. Contributed to
 * `Tokens.HttpMount`.
 */
export interface HttpMount {
  /**
   * Called by `start()` before the port is opened. Returns `undefined` to mount nothing.
   * @throws an error, with which `start()` rejects.
   */
  mount(address: MountAddress): Awaitable<MountedHttp | undefined>;
}
