import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { EventStream } from "../../contracts/events.js";
import type { EnsembleHooks } from "../../contracts/hooks.js";
import type { EnsembleAccess } from "../../contracts/ensemble-access.js";
import type { HttpMount } from "../../contracts/http-mount.js";
import type { BindApi, Plugin, PluginContext } from "../../contracts/plugin.js";
import type { StoredReview } from "../../contracts/review.js";
import type { Clock, IdGenerator } from "../../contracts/runtime.js";
import type { DashboardOptions, DashboardSettings } from "./dashboard-options.js";
import type { ChatThreads, ConversationRegistration } from "./control/chat-threads.js";
import type { Registration, Runnable } from "./control/registrations.js";
import type { Reporter } from "./reporting/reporter.js";
import type { ReportTarget } from "./reporting/report-target.js";
import type { BoardPlace, BoardServer } from "./server/board-server.js";
import { ValidationError } from "../../contracts/errors.js";
import { DashboardError } from "../../contracts/state-errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { requireFunction } from "../../contracts/validation.js";
import { messageOf } from "../../util/errors.js";
import { emitProcessWarning } from "../../util/process-warning.js";
import { systemClock, uuidGenerator } from "../../util/runtime.js";
import { isWildcardHost, urlHostOf } from "../shared/http/listening-names.js";
import { Board } from "./board.js";
import { BoardMounts } from "./board-mounts.js";
import { resolveDashboardOptions } from "./dashboard-options.js";
import { LIMITS, type BoardLimits } from "./server/limits.js";

/** A plugin with an HTTP server. Any number of kernels may use it. */
export interface Dashboard extends Plugin {
  /**
   * The URL of the page: on the port of the dashboard, or on that of a service. `undefined` while
   * there is no listener. With `token: true`, a link that signs in.
   */
  readonly url: string | undefined;
  /** Number of pages and other clients connected over the socket. */
  readonly pages: number;
  /**
   * Starts to listen now, not only at the start of the first kernel. Has no effect if a service
   * already serves the dashboard. Returns `url`.
   *
   * @throws DashboardError for a port in use, and after `close()`; ValidationError with `port:
   * false`.
   */
  listen(): Promise<string>;
  /**
   * Offers an ensemble under its name, so that users can start it from the page. Adds this plugin
   * to the ensemble if its kernel does not have it.
   *
   * @throws ValidationError for a name in use or a name other than that of the ensemble. Also for a
   * kernel that has booted without this plugin.
   */
  register(name: string, runnable: Runnable, options?: Registration): this;
  /**
   * Shows the threads of a conversation on the page, read-only. The runs of the conversation are on
   * the dashboard only if the conversation has this plugin.
   *
   * @throws ValidationError for an invalid name, and for a name in use.
   */
  registerConversation(
    name: string,
    conversation: ChatThreads,
    options?: ConversationRegistration,
  ): this;
  /**
   * Informs the pages, closes all connections, writes unsaved entries and disposes of the store.
   * Kernels and waiting reviews continue.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
  /** Handles the requests of your server: `http.on("request", board.handler)`. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Handles the WebSocket connections of your server: `http.on("upgrade", board.upgrade)`. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /**
   * Calls `fn` with each review that begins to wait, and with the link that opens it. Returns a
   * function that removes the callback. If `fn` throws, a process warning is emitted.
   */
  onReview(fn: (review: StoredReview, link: string) => unknown): () => void;
}

/** The parts that tests replace. */
export interface DashboardParts {
  readonly clock?: Clock;
  readonly ids?: IdGenerator;
  readonly limits?: Partial<BoardLimits>;
  /** The port used without the option. */
  readonly defaultPort?: number;
}

/**
 * Serves a web page and an API for the current runs and the waiting reviews, inside the process.
 * Listens on `http://localhost:7329` from the start of the first kernel. An ensemble with
 * `shareTasks`, `shareTools`, `shareRun` or `schedules` does not open this port if `port` is not
 * set. The service that its `start()` opens then serves the dashboard. Other machines have access
 * only if the options set a host and access control.
 *
 * @throws ValidationError for an invalid option, and for a public host without access control.
 */
export function dashboard(options: DashboardOptions = {}): Dashboard {
  return createDashboard(options);
}

/** Creates a dashboard with replaced parts. */
export function createDashboard(options: DashboardOptions, parts: DashboardParts = {}): Dashboard {
  const settings = resolveDashboardOptions(options);
  const { defaultPort } = parts;
  const isReplaced = defaultPort !== undefined && !settings.hasPort;
  return new LiveDashboard(isReplaced ? { ...settings, port: defaultPort } : settings, parts);
}

class LiveDashboard implements Dashboard {
  readonly name = "dashboard";
  readonly #settings: DashboardSettings;
  readonly #ids: IdGenerator;
  readonly #board: Board;
  readonly #limits: BoardLimits;
  readonly #mounts: BoardMounts;
  #token: string | undefined;
  /** Whether `start()` of an ensemble will serve the dashboard. */
  #waits = false;
  #server: Promise<BoardServer> | undefined;
  #serving: BoardServer | undefined;
  #listening: Promise<string> | undefined;
  #url: string | undefined;
  #closing: Promise<void> | undefined;
  #reporter: Promise<Reporter> | undefined;

  readonly handler = (request: IncomingMessage, response: ServerResponse): void => {
    this.#whenServing().then(
      ({ dispatcher }) => dispatcher.handle(request, response),
      () => void response.writeHead(503, { Connection: "close" }).end(),
    );
  };

  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    this.#whenServing().then(
      ({ dispatcher }) => dispatcher.upgrade(request, socket, head),
      () => void socket.destroy(),
    );
  };

  constructor(settings: DashboardSettings, parts: DashboardParts) {
    const { clock = systemClock, ids = uuidGenerator, limits } = parts;
    this.#settings = settings;
    this.#ids = ids;
    this.#limits = { ...LIMITS, ...limits };
    this.#board = new Board(settings, {
      clock,
      ids,
      limits: this.#limits,
      plugin: this,
      link: (page) => this.#linkTo(page),
    });
    this.#mounts = new BoardMounts({
      settings,
      isClosed: () => this.#closing !== undefined,
      listen: () => this.listen(),
      leave: (port) => this.#leave(port),
      serve: (place) => this.#makeServer(place),
      pageAt: (page) => this.#announced(page),
    });
  }

  get url(): string | undefined {
    return this.#url ?? this.#mounts.url;
  }

  get pages(): number {
    return (this.#serving?.clients ?? 0) + this.#mounts.clients;
  }

  bind(bind: BindApi): void {
    const mount: HttpMount = {
      mount: (address) => {
        this.#board.addService(address.service);
        return this.#mounts.mount(address);
      },
    };
    bind.many(Tokens.HttpMount).toConstantValue(mount);
  }

  apply(ctx: { readonly hooks: EnsembleHooks; readonly events: EventStream }): void {
    this.#board.attach(ctx);
  }

  attach({ isShared }: EnsembleAccess): void {
    this.#waits ||= isShared;
  }

  async start(ctx: PluginContext): Promise<void> {
    const { port, hasPort } = this.#settings;
    const waits = this.#waits && !hasPort;
    if (this.#closing === undefined && port !== false && !waits) await this.listen();
    if (this.#closing === undefined) void this.#report();
    this.#board.started(ctx);
  }

  dispose({ events }: { readonly events: EventStream }): void {
    this.#board.detach(events);
  }

  listen(): Promise<string> {
    if (this.#closing !== undefined)
      return Promise.reject(new DashboardError("The dashboard has been closed"));
    const { port, hasPort } = this.#settings;
    if (port === false)
      return Promise.reject(
        new ValidationError("The dashboard does not listen: its port is false", {
          hint: "Pass its handler and upgrade to a server of yours, or set a port.",
        }),
      );
    const mounted = hasPort ? this.#mounts.urlAt(port) : this.#mounts.url;
    if (mounted !== undefined) return Promise.resolve(mounted);
    this.#listening ??= this.#listen(port).catch((error: unknown) => {
      this.#listening = undefined;
      throw error;
    });
    return this.#listening;
  }

  register(name: string, runnable: Runnable, options: Registration = {}): this {
    this.#board.registrations.add(name, runnable, { plugin: this, options });
    void this.#reporter?.then((reporter) => reporter.offer());
    return this;
  }

  registerConversation(
    name: string,
    conversation: ChatThreads,
    options: ConversationRegistration = {},
  ): this {
    this.#board.chats.add(name, conversation, options);
    void this.#reporter?.then((reporter) => reporter.offer());
    return this;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  onReview(fn: (review: StoredReview, link: string) => unknown): () => void {
    requireFunction("dashboard onReview's argument", fn ?? null);
    return this.#board.desk.listen((review) => void this.#callWith(review, fn));
  }

  async #callWith(
    review: StoredReview,
    fn: (review: StoredReview, link: string) => unknown,
  ): Promise<void> {
    try {
      await fn(review, this.#linkTo(`reviews/${encodeURIComponent(review.reviewId)}`));
    } catch (error) {
      emitProcessWarning(`dashboard: a function of onReview failed: ${messageOf(error)}`);
    }
  }

  /** Returns the address of a page, without a token. */
  #linkTo(page: string): string {
    const board = this.#settings.publicUrl ?? this.url?.replace(/\/(?:#.*)?$/, "") ?? "";
    return `${board}/#/${page}`;
  }

  async #listen(port: number): Promise<string> {
    const server = await this.#whenServing();
    const { host, publicUrl, keepAlive } = this.#settings;
    let taken: number;
    try {
      taken = await server.listen(port, keepAlive);
    } catch (cause) {
      throw new DashboardError(
        `The dashboard can't listen on ${host}, port ${port}: ${messageOf(cause)}`,
        { cause, hint: await portAdvice(cause, host) },
      );
    }
    const name = isWildcardHost(host) ? "localhost" : urlHostOf(host);
    const page = publicUrl ?? `http://${name}:${taken}`;
    this.#url = this.#announced(page);
    return this.#url;
  }

  /** Returns the link of a page. Prints it if it contains the generated token. */
  #announced(page: string): string {
    if (this.#settings.token !== true) return `${page}/`;
    const url = `${page}/#t=${this.#token ?? ""}`;
    process.stderr.write(`Dashboard: ${url}\n`);
    return url;
  }

  /** Closes the listener on this port, for a service that takes it over. */
  async #leave(port: number): Promise<void> {
    await this.#listening?.catch(() => undefined); // reported by listen()
    const server = this.#serving;
    if (server?.port !== port) return;
    this.#listening = this.#server = this.#serving = this.#url = undefined;
    await server.close("A service takes the port over");
  }

  /** Connects to the board of `reportTo`. */
  async #report(): Promise<void> {
    const { reportTo } = this.#settings;
    if (reportTo === undefined) return;
    this.#reporter ??= this.#connect(reportTo);
    await this.#reporter;
  }

  async #connect(reportTo: ReportTarget): Promise<Reporter> {
    const { Reporter: BoardReporter } = await import("./reporting/reporter.js");
    const o = { limits: this.#limits, instance: this.#ids.next() };
    return new BoardReporter(this.#board, reportTo, o);
  }

  #whenServing(): Promise<BoardServer> {
    if (this.#closing !== undefined)
      return Promise.reject(new DashboardError("The dashboard has been closed"));
    this.#server ??= this.#serve();
    return this.#server;
  }

  async #serve(): Promise<BoardServer> {
    this.#serving = await this.#makeServer();
    return this.#serving;
  }

  async #makeServer(place?: BoardPlace): Promise<BoardServer> {
    const { token } = this.#settings;
    this.#token ??= token === true ? randomBytes(32).toString("base64url") : token;
    const { BoardServer: Server } = await import("./server/board-server.js");
    return Server.create(this.#board, { token: this.#token, limits: this.#limits, place });
  }

  async #close(): Promise<void> {
    await this.#listening?.catch(() => undefined); // reported by listen()
    const server = await this.#server?.catch(() => undefined);
    await server?.close("The dashboard was closed");
    await this.#mounts.close();
    await (await this.#reporter)?.close();
    this.#url = undefined;
    await this.#board.close();
  }
}

/** Returns the advice for an unavailable port: a free port. */
async function portAdvice(cause: unknown, host: string): Promise<string> {
  const { code } = cause as { readonly code?: unknown };
  if (code !== "EADDRINUSE") return "Choose another host or port.";
  const { createServer } = await import("node:net");
  const probe = createServer();
  const port = await new Promise<number>((resolve) => {
    probe.once("error", () => resolve(0));
    probe.listen({ host, port: 0 }, () => {
      const address = probe.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  await new Promise((resolve) => probe.close(resolve));
  return port === 0
    ? "Choose another port, or 0 for one that is free."
    : `Port ${port} is free. Set \`port\` (on the command line --port, or --dashboard=${port} of run). 0 takes any free port.`;
}
