import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { HttpMount, MountAddress, MountedHttp } from "../../contracts/http-mount.js";
import type { HttpRoute } from "../../contracts/http-route.js";
import type { RouteDispatcher } from "../../plugins/shared/http/route-dispatcher.js";
import type { Fields } from "../../util/objects.js";
import { routesOf } from "../../plugins/shared/http/routes.js";

type Dispatcher = Pick<RouteDispatcher, "handle" | "upgrade">;

/** The parts of the listener that plugins serve. */
export class Mounts {
  readonly #mounted: readonly MountedHttp[];

  private constructor(mounted: readonly MountedHttp[]) {
    this.#mounted = mounted;
  }

  /** @throws the error of a mount, after the previous mounts have been closed. */
  static async open(mounts: readonly HttpMount[], address: MountAddress): Promise<Mounts> {
    const mounted: MountedHttp[] = [];
    try {
      for (const mount of mounts) {
        const part = await mount.mount(address);
        if (part !== undefined) mounted.push(part);
      }
    } catch (error) {
      await new Mounts(mounted).close();
      throw error;
    }
    return new Mounts(mounted);
  }

  /** Fields of `GET /api/status`. */
  status(): Fields {
    // The result has the fields of all objects.
    return Object.assign({}, ...this.#mounted.map((part) => part.status?.() ?? {})) as Fields;
  }

  listening(at: { readonly url: string; readonly port: number }): void {
    for (const part of this.#mounted) part.listening?.(at);
  }

  /**
   * Passes requests to the mount that serves their path. Passes all other requests, and requests
   * for `own` routes, to `rest`.
   */
  before(rest: Dispatcher, own: readonly Pick<HttpRoute, "path">[]): Dispatcher {
    if (this.#mounted.length === 0) return rest;
    const dispatcherOf = ({ url = "" }: IncomingMessage): Dispatcher => {
      if (!URL.canParse(url, "http://host")) return rest;
      const path = new URL(url, "http://host").pathname;
      if (routesOf(own, path).length > 0) return rest;
      const part = this.#mounted.find((one) => one.serves(path));
      return part === undefined
        ? rest
        : {
            handle: async (request, response) => part.handle(request, response),
            upgrade: async (request, socket, head) => part.upgrade(request, socket, head),
          };
    };
    return {
      handle: (request: IncomingMessage, response: ServerResponse) =>
        dispatcherOf(request).handle(request, response),
      upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) =>
        dispatcherOf(request).upgrade(request, socket, head),
    };
  }

  async close(): Promise<void> {
    for (const part of this.#mounted) await part.close();
  }
}
