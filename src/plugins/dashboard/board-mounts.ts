import type { MountAddress, MountedHttp } from "../../contracts/http-mount.js";
import type { DashboardSettings } from "./dashboard-options.js";
import type { BoardPlace, BoardServer } from "./server/board-server.js";
import { ValidationError } from "../../contracts/errors.js";

/** The functions of a dashboard that its mounts use. */
interface MountParts {
  readonly settings: DashboardSettings;
  isClosed(): boolean;
  /** Starts the dashboard's own listener. */
  listen(): Promise<string>;
  /** Ends the dashboard's own listener if it has this port. */
  leave(port: number): Promise<void>;
  serve(place: BoardPlace): Promise<BoardServer>;
  /** Returns the link of a page, from its address without a slash at the end. */
  pageAt(page: string): string;
}

/** A service whose listener serves the board. */
interface MountedBoard {
  readonly server: BoardServer;
  /** `undefined` until the service is listening. */
  place: { readonly url: string; readonly port: number } | undefined;
}

/** The services whose listeners serve one board. */
export class BoardMounts {
  readonly #parts: MountParts;
  readonly #mounted = new Set<MountedBoard>();

  constructor(parts: MountParts) {
    this.#parts = parts;
  }

  /** The page on the service that has been listening longest. */
  get url(): string | undefined {
    return [...this.#mounted].find(({ place }) => place !== undefined)?.place?.url;
  }

  /** Number of open sockets. */
  get clients(): number {
    return [...this.#mounted].reduce((sum, { server }) => sum + server.clients, 0);
  }

  /** Returns the page on the service that has this port. */
  urlAt(port: number): string | undefined {
    return [...this.#mounted].find(({ place }) => place?.port === port)?.place?.url;
  }

  /**
   * See `HttpMount.mount`.
   * @throws ValidationError for options that do not fit the service; DashboardError
   */
  async mount(address: MountAddress): Promise<MountedHttp | undefined> {
    const { settings, isClosed, listen, leave, serve } = this.#parts;
    const { port, hasPort } = settings;
    if (isClosed() || port === false) return undefined;
    if (address.port === undefined) {
      await listen(); // the service opens no port
      return undefined;
    }
    // The service already has a port.
    if (hasPort && (port !== address.port || port === 0)) return undefined;
    requireFit(settings, address);
    const server = await serve({
      service: address.service,
      allowedHosts: address.allowedHosts,
      allowedOrigins: address.publicUrl === undefined ? [] : [new URL(address.publicUrl).origin],
    });
    await leave(address.port);
    return this.#serving(server);
  }

  /** Closes all sockets. */
  async close(): Promise<void> {
    const mounted = [...this.#mounted];
    this.#mounted.clear();
    for (const { server } of mounted) await server.close("The dashboard was closed");
  }

  #serving(server: BoardServer): MountedHttp {
    const mounted: MountedBoard = { server, place: undefined };
    this.#mounted.add(mounted);
    const { dispatcher } = server;
    return {
      serves: (path) => !this.#parts.isClosed() && server.serves(path),
      handle: (request, response) => dispatcher.handle(request, response),
      upgrade: (request, socket, head) => dispatcher.upgrade(request, socket, head),
      status: () => (this.#parts.isClosed() ? {} : { board: server.status }),
      listening: ({ url, port }) => {
        const { publicUrl } = this.#parts.settings;
        const page = publicUrl ?? url.replace(/\/$/, "");
        mounted.place = { url: this.#parts.pageAt(page), port };
      },
      close: async () => {
        this.#mounted.delete(mounted);
        await server.close("The service has stopped");
      },
    };
  }
}

/**
 * Checks the options of the dashboard.
 * @throws ValidationError for options that have no effect on the listener of a service, or admit
 * other machines without access control
 */
function requireFit(settings: DashboardSettings, { host, isReachable }: MountAddress): void {
  if (settings.hasHost && settings.host !== host)
    throw new ValidationError(
      `dashboard host ${settings.host} has no effect: the service listens on ${host}`,
      { hint: "Leave host out, or set another port: dashboard({ port: 0, host })." },
    );
  const { token, users, authenticate } = settings;
  if (isReachable && token === undefined && users === undefined && authenticate === undefined)
    throw new ValidationError(
      "dashboard needs access control on the port of a service that other machines can reach",
      {
        hint:
          "Set `token`, `users` or `authenticate` of dashboard(). " +
          "Or set another port: dashboard({ port: 0 }).",
      },
    );
}
