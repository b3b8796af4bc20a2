import type { ErrorDetails } from "../../../contracts/errors.js";
import type { SqlDatabase, SqlRow, SqlValue } from "./sql-database.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { preview } from "../../../contracts/validation.js";
import { Cancellation } from "../../../util/abort/cancellation.js";
import { sleep } from "../../../util/abort/timeouts.js";
import { systemClock } from "../../../util/runtime.js";
import { openSchema, SchemaError } from "./migrations.js";
import { databaseReason, isPassing } from "./sql-database.js";

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1_000;

/** Settings of a session, and the conversion of its errors. */
export interface SessionSettings {
  /** Time in milliseconds for which a statement is repeated while the connection is broken. */
  readonly patienceMs: number;
  /** The name of the session's user in messages: `journal`. */
  readonly what: string;
  readonly errorFrom: (message: string, details: ErrorDetails) => AgentEnsembleError;
}

/**
 * A database with a migrated schema. The first statement opens the schema. Statements are repeated
 * while the connection is broken.
 */
export class SqlSession {
  /** The name in messages. Contains no secret. */
  readonly name: string;
  readonly #database: SqlDatabase;
  readonly #schema: string;
  readonly #settings: SessionSettings;
  readonly #end = new Cancellation();
  #opening: Promise<void> | undefined;
  #wasOpened = false;

  constructor(database: SqlDatabase, schema: string, settings: SessionSettings) {
    this.name = database.name;
    this.#database = database;
    this.#schema = schema;
    this.#settings = settings;
  }

  /**
   * Returns the rows of a statement, which must be idempotent. Transient failures are repeated for
   * `patienceMs`. Before the schema is open, they are errors at once.
   * @throws the error of the settings; ValidationError for a missing package; the reason of
   * `signal`.
   */
  async query(
    text: string,
    values: readonly SqlValue[],
    signal?: AbortSignal,
  ): Promise<readonly SqlRow[]> {
    const until = systemClock.monotonicMs() + this.#settings.patienceMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      this.requireOpen();
      try {
        await this.#open();
        return await this.#database.query(text, values);
      } catch (error) {
        const isLast = systemClock.monotonicMs() + pauseMs > until;
        if (isLast || !this.#wasOpened || !isPassing(error)) throw this.#errorOf(error);
      }
      await this.#pause(pauseMs, signal);
    }
  }

  /**
   * Like `query`, for statements that must not be executed twice: a failure is an error at once.
   */
  async queryOnce(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    this.requireOpen();
    try {
      await this.#open();
      return await this.#database.query(text, values);
    } catch (error) {
      throw this.#errorOf(error);
    }
  }

  /** Whether other processes can use the database, and notify this one. */
  get canListen(): boolean {
    return this.#database.listen !== undefined;
  }

  /** Like `SqlDatabase.listen`; `undefined` if no other process can use the database. */
  listen(
    channel: string,
    heard: (text: string) => void,
    ended: () => void,
  ): Promise<() => Promise<void>> | undefined {
    return this.#database.listen?.(channel, heard, ended);
  }

  /** @throws the error of the settings after `close()`. */
  requireOpen(): void {
    if (this.#end.reason !== undefined) throw this.#end.reason;
  }

  /**
   * Closes the session. Statements that wait for a connection fail. Statements in progress finish.
   */
  async close(): Promise<void> {
    this.#end.cancel(this.#closed());
    await this.#database.close();
  }

  async #open(): Promise<void> {
    this.#opening ??= openSchema(this.#database, this.#schema);
    try {
      await this.#opening;
      this.#wasOpened = true;
    } catch (error) {
      this.#opening = undefined; // the next statement tries again
      throw error;
    }
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const ender = new Cancellation(this.#end);
    if (signal !== undefined) ender.follow(signal);
    try {
      await sleep(ms, ender);
    } finally {
      ender.dispose();
    }
  }

  #closed(details: ErrorDetails = {}): AgentEnsembleError {
    return this.#settings.errorFrom(`${this.name}: the ${this.#settings.what} is closed`, details);
  }

  #errorOf(cause: unknown): AgentEnsembleError {
    if (this.#end.reason !== undefined) return this.#closed({ cause });
    const { errorFrom } = this.#settings;
    if (AgentEnsembleError.isInstance(cause)) {
      if (cause.code === "AE_VALIDATION") return cause;
      return errorFrom(cause.message, { cause, hint: cause.hint });
    }
    const message = `${this.name}: ${preview(databaseReason(cause), 2_000)}`;
    return errorFrom(message, { cause, ...(cause instanceof SchemaError && { hint: cause.hint }) });
  }
}
