import type { SqlDatabase, SqlRow, SqlValue } from "../../../shared/sql/sql-database.js";
import { AgentEnsembleError } from "../../../../contracts/errors.js";
import { JournalError } from "../../../../contracts/journal-errors.js";
import { preview } from "../../../../contracts/validation.js";
import { Cancellation } from "../../../../util/abort/cancellation.js";
import { sleep } from "../../../../util/abort/timeouts.js";
import { systemClock } from "../../../../util/runtime.js";
import { openSchema, SchemaError } from "../../../shared/sql/migrations.js";
import { databaseReason, isPassing } from "../../../shared/sql/sql-database.js";

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 1_000;

/** A database whose schema is opened before the first statement, and whose statements are repeated while the connection is broken. */
export class SqlSession {
  /** For messages; contains no secret. */
  readonly name: string;
  readonly #database: SqlDatabase;
  readonly #schema: string;
  readonly #patienceMs: number;
  readonly #end = new Cancellation();
  #opening: Promise<void> | undefined;
  #wasOpened = false;

  constructor(database: SqlDatabase, schema: string, patienceMs: number) {
    this.name = database.name;
    this.#database = database;
    this.#schema = schema;
    this.#patienceMs = patienceMs;
  }

  /**
   * The rows of a statement, which must be harmless when it is executed twice. Once the schema was opened, failures that pass are tried again for
   * `patienceMs`; before that they are errors at once.
   * @throws JournalError; ValidationError for a missing package; the reason of `signal`.
   */
  async query(
    text: string,
    values: readonly SqlValue[],
    signal?: AbortSignal,
  ): Promise<readonly SqlRow[]> {
    const until = systemClock.monotonicMs() + this.#patienceMs;
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

  /** As `SqlDatabase.listen`; `undefined` where no other process can use the database. */
  listen(
    channel: string,
    heard: () => void,
    ended: () => void,
  ): Promise<() => Promise<void>> | undefined {
    return this.#database.listen?.(channel, heard, ended);
  }

  /** @throws JournalError after `close()`. */
  requireOpen(): void {
    if (this.#end.reason !== undefined) throw this.#end.reason;
  }

  /** Statements that are waiting for a connection fail; those under way end. */
  async close(): Promise<void> {
    this.#end.cancel(new JournalError(`${this.name}: the journal is closed`));
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

  #errorOf(cause: unknown): AgentEnsembleError {
    if (this.#end.reason !== undefined)
      return new JournalError(`${this.name}: the journal is closed`, { cause });
    if (AgentEnsembleError.isInstance(cause)) {
      if (["AE_VALIDATION", "AE_JOURNAL"].includes(cause.code)) return cause;
      return new JournalError(cause.message, { cause, hint: cause.hint });
    }
    const message = `${this.name}: ${preview(databaseReason(cause), 2_000)}`;
    return new JournalError(message, {
      cause,
      ...(cause instanceof SchemaError && { hint: cause.hint }),
    });
  }
}
