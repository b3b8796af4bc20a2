import type { McpServerState } from "./mcp-types.js";
import type { ResolvedServer } from "./mcp-client-options.js";
import type { ErrorText } from "./server-secrets.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { McpError } from "../../../contracts/state-errors.js";
import { Cancellation } from "../../../util/abort/cancellation.js";
import { settleWithin, sleep } from "../../../util/abort/timeouts.js";
import { McpSession, OpeningFailed, RequestRefused } from "./mcp-session.js";
import { errorTextOf } from "./server-secrets.js";
import { messageOf } from "../../../util/errors.js";

const ATTEMPTS = 3;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
/**
 * Pause after all attempts have failed, so that further tasks do not each wait for a server that is
 * down.
 */
const FIRST_COOL_DOWN_MS = 1_000;
const LONGEST_COOL_DOWN_MS = 30_000;

const grown = (first: number, times: number, longest: number): number =>
  Math.min(first * 2 ** times, longest);

/**
 * The platform's fetch hides the reason behind `fetch failed`. The protocol's client reports
 * invalid responses as JSON.
 */
function protocolReason(error: unknown): string {
  const [, misfit, first] =
    /^(Invalid result for [^:\n]*): \[[^]*?"message": "([^"\n]*)"/.exec(messageOf(error)) ?? [];
  if (misfit !== undefined) return `${misfit}: ${first}`;
  const cause =
    error instanceof Error && error.cause !== undefined && !(error instanceof OpeningFailed)
      ? messageOf(error.cause)
      : "";
  return cause === "" || messageOf(error).includes(cause)
    ? messageOf(error)
    : `${messageOf(error)}: ${cause}`;
}

/**
 * The connection to one server. Opened on first use, shared by all callers, and reopened after a
 * loss with increasing pauses. Errors about the server are McpErrors.
 */
export class McpConnection {
  readonly server: ResolvedServer;
  /** Removes secrets from the server's texts, for use in errors. */
  readonly redact: ErrorText;
  readonly #listChanged: () => void;
  #state: McpServerState = "CREATED";
  #life = new AbortController();
  #session: McpSession | undefined;
  #opening: Promise<McpSession> | undefined;
  #closing: Promise<void> = Promise.resolve();
  /** Connections lost since the last successful request. */
  #losses = 0;
  /** Number of consecutive connection failures after all attempts. */
  #outages = 0;
  /** The reason and timer of the current pause, in which no attempt is made. */
  #coolingDown: { readonly reason: McpError; readonly timer: NodeJS.Timeout } | undefined;

  /** @param listChanged called when the tool list may have changed */
  constructor(server: ResolvedServer, listChanged: () => void) {
    this.server = server;
    this.redact = errorTextOf(server.endpoint);
    this.#listChanged = listChanged;
  }

  get state(): McpServerState {
    return this.#state;
  }

  /** Process id of a running local server. */
  get pid(): number | undefined {
    return this.#session?.pid;
  }

  /**
   * Allows connecting again after `close`, once the closing has finished. Also ends a pause after
   * failures.
   */
  async reconnect(): Promise<void> {
    this.#endCoolDown();
    await this.#closing;
    if (this.#state !== "CLOSED") return;
    this.#state = "CREATED";
    this.#life = new AbortController();
    this.#losses = 0;
    this.#outages = 0;
  }

  /**
   * Returns an open session and connects first if there is none.
   * @throws McpError if the server can't be reached or the connection is closed; the signal's
   * reason
   */
  async session(signal?: AbortSignal): Promise<McpSession> {
    signal?.throwIfAborted();
    if (this.#state === "CLOSED") throw this.#closedError();
    if (this.#session?.isAlive === true) return this.#session;
    if (this.#coolingDown !== undefined) throw this.#coolingDown.reason;
    this.#opening ??= this.#open(this.#life.signal).finally(() => (this.#opening = undefined));
    return settleWithin(this.#opening, signal);
  }

  /**
   * Sends a request. Repeats it once over a new session if the server has discarded the first one.
   * @throws RequestRefused; McpError, after which it is unknown whether the request took effect;
   * the signal's reason
   */
  async use<T>(
    signal: AbortSignal,
    request: (session: McpSession, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const session = await this.session(signal);
    try {
      return await this.#answered(request(session, signal));
    } catch (error) {
      if (signal.aborted || !session.isForgotten(error))
        throw this.#explained(session, error, signal);
    }
    this.#retire(session);
    const next = await this.session(signal);
    try {
      return await this.#answered(request(next, signal));
    } catch (error) {
      throw this.#explained(next, error, signal);
    }
  }

  /** Closes the connection. Never rejects. Later requests are rejected until `reconnect`. */
  close(): Promise<void> {
    if (this.#state === "CLOSED") return this.#closing;
    this.#state = "CLOSED";
    this.#endCoolDown();
    this.#life.abort(this.#closedError());
    this.#closing = this.#end(this.#closing, this.#opening, this.#session);
    this.#session = undefined;
    return this.#closing;
  }

  async #end(
    before: Promise<void>,
    opening: Promise<McpSession> | undefined,
    session: McpSession | undefined,
  ): Promise<void> {
    // callers that wait for the session receive the opening error
    await Promise.all([before, opening?.catch(() => undefined), session?.close()]);
  }

  /** Discards a session that can't be used any more. */
  #retire(session: McpSession): void {
    if (this.#session === session) this.#session = undefined;
    this.#closing = this.#end(this.#closing, undefined, session);
    this.#listChanged();
  }

  async #answered<T>(answer: Promise<T>): Promise<T> {
    const result = await answer;
    this.#losses = 0;
    return result;
  }

  async #open(life: AbortSignal): Promise<McpSession> {
    const late = (): Error => new Error("late"); // #late creates the better error
    const deadline = new Cancellation().follow(life).expire(this.server.connectTimeoutMs, late);
    try {
      return await this.#attempts(deadline.signal, life);
    } finally {
      deadline.dispose();
    }
  }

  async #attempts(signal: AbortSignal, life: AbortSignal): Promise<McpSession> {
    let failure: unknown;
    let delay = this.#losses === 0 ? 0 : grown(FIRST_DELAY_MS, this.#losses - 1, LONGEST_DELAY_MS);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        if (delay > 0) await sleep(delay, signal);
        return await this.#attempt(signal);
      } catch (error) {
        if (life.aborted) throw this.#closedError();
        if (signal.aborted) throw this.#coolDown(this.#late(failure ?? error));
        if (AgentEnsembleError.isInstance(error)) throw error; // the client is not installed
        failure = error;
        delay = grown(FIRST_DELAY_MS, attempt - 1, LONGEST_DELAY_MS);
        if (error instanceof OpeningFailed && error.isFinal) break;
      }
    }
    throw this.#coolDown(this.#unreachable(failure));
  }

  /** Rejects all calls with this reason for a while. Returns the reason. */
  #coolDown(reason: McpError): McpError {
    const timer = setTimeout(
      () => (this.#coolingDown = undefined),
      grown(FIRST_COOL_DOWN_MS, this.#outages++, LONGEST_COOL_DOWN_MS),
    ).unref();
    this.#coolingDown = { reason, timer };
    return reason;
  }

  #endCoolDown(): void {
    clearTimeout(this.#coolingDown?.timer);
    this.#coolingDown = undefined;
  }

  async #attempt(signal: AbortSignal): Promise<McpSession> {
    const session = await McpSession.open(this.server, this.redact, signal, {
      listChanged: () => this.#listChanged(),
      lost: (lost) => this.#lost(lost),
    });
    if (signal.aborted) {
      await session.close();
      throw signal.reason;
    }
    this.#session = session;
    this.#outages = 0;
    this.#state = "STARTED";
    this.#listChanged();
    return session;
  }

  #lost(session: McpSession): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#losses++;
    this.#listChanged();
  }

  #closedError(): McpError {
    return new McpError(`MCP server '${this.server.name}' is closed`, this.server.name, {
      hint: "Call start() to bring it back.",
    });
  }

  #late(cause: unknown): McpError {
    const { name, connectTimeoutMs } = this.server;
    return new McpError(
      `MCP server '${name}' was not ready within ${connectTimeoutMs} ms${this.#tail(cause)}`,
      name,
      {
        hint: "Raise connectTimeoutMs if it needs longer to start.",
      },
    );
  }

  #unreachable(failure: unknown): McpError {
    const { name, endpoint } = this.server;
    const target =
      endpoint.kind === "stdio"
        ? `started ('${endpoint.command}')`
        : `reached at ${endpoint.url.origin}`;
    return new McpError(
      `MCP server '${name}' could not be ${target}: ${this.#told(failure)}`,
      name,
      { hint: connectionHint(endpoint) },
    );
  }

  #tail(cause: unknown): string {
    const account = cause instanceof OpeningFailed ? cause.account : "";
    return account === "" ? "" : `: ${this.redact(account)}`;
  }

  #told(failure: unknown): string {
    const inner = failure instanceof OpeningFailed ? failure.cause : failure;
    const text = protocolReason(inner);
    return this.redact(
      failure instanceof OpeningFailed && failure.account !== ""
        ? `${text}; ${failure.account}`
        : text,
    );
  }

  /**
   * Converts the error of a failed request. The original error does not become the cause, since its
   * text may contain secrets.
   */
  #explained(session: McpSession, error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof RequestRefused) return new RequestRefused(this.redact(error.message), {});
    if (AgentEnsembleError.isInstance(error)) return error;
    const { name, timeoutMs } = this.server;
    if (this.#state === "CLOSED") return this.#closedError();
    if (session.isTimeout(error))
      return new McpError(`MCP server '${name}' did not answer within ${timeoutMs} ms`, name, {
        hint: "Raise timeoutMs if calls take longer.",
      });
    const account =
      session.account === ""
        ? protocolReason(error)
        : `${protocolReason(error)}; ${session.account}`;
    return new McpError(`MCP server '${name}' failed: ${this.redact(account)}`, name, {
      hint: "Whether the call took effect is not known.",
    });
  }
}

function connectionHint(endpoint: ResolvedServer["endpoint"]): string {
  if (endpoint.kind !== "stdio") return "Check url and headers, and that the server runs.";
  if (/\s-/.test(endpoint.command))
    return "command is the program alone, without a shell: what follows it belongs into args.";
  return "Check command, args, cwd and env; run the command by hand.";
}
