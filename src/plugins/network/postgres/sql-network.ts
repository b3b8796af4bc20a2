import type { SqlDatabase, SqlRow, SqlValue } from "../../shared/sql/sql-database.js";
import type { QueueRules } from "../shared/queue-table.js";
import { NetworkError } from "../../../contracts/network-errors.js";
import { systemClock } from "../../../util/runtime.js";
import { isPassing } from "../../shared/sql/sql-database.js";
import { SqlSession } from "../../shared/sql/sql-session.js";
import { Notifications } from "./notifications.js";

/**
 * Time in ms between two removals of expired rows, and the maximum number of rows of one removal
 * per table.
 */
const SWEEP_MS = 60_000;
const SWEPT_ROWS = 1_000;
const AWAY = "Check the address, and whether PostgreSQL runs. The call may be repeated.";

export interface SqlNetworkSettings {
  readonly rules: QueueRules;
  /** Time for which a statement is repeated while the connection is broken, in milliseconds. */
  readonly patienceMs: number;
}

/**
 * The shared parts of the backend: the session, the notifications, and the removal of expired rows.
 */
export class SqlNetwork {
  readonly schema: string;
  readonly rules: QueueRules;
  readonly notifications: Notifications;
  readonly #session: SqlSession;
  readonly #closers = new Set<() => void>();
  #sweptMs = systemClock.monotonicMs();
  #sweeping: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /** The caller has checked `schema`. */
  constructor(database: SqlDatabase, schema: string, { rules, patienceMs }: SqlNetworkSettings) {
    this.schema = schema;
    this.rules = rules;
    this.#session = new SqlSession(database, schema, {
      patienceMs,
      what: "backend",
      errorFrom: (message, details) =>
        new NetworkError(message, { ...(isPassing(details.cause) && { hint: AWAY }), ...details }),
    });
    this.notifications = new Notifications(this.#session, schema);
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Executes a statement that may be executed twice. @throws NetworkError */
  async query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    this.requireOpen();
    const rows = await this.#session.query(text, values);
    this.#sweepLater();
    return rows;
  }

  /** Executes a statement that must not be executed twice. @throws NetworkError */
  async queryOnce(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    this.requireOpen();
    return this.#session.queryOnce(text, values);
  }

  /** Calls `fn` when the backend is closed. Returns a function that removes the callback. */
  onClose(fn: () => void): () => void {
    this.#closers.add(fn);
    return () => void this.#closers.delete(fn);
  }

  /** Closes the backend. Later calls reject. */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    for (const close of [...this.#closers]) close();
    await this.notifications.close();
    await this.#sweeping;
    await this.#session.close();
  }

  /** @throws NetworkError after `close()`. */
  requireOpen(): void {
    if (this.#closing !== undefined)
      throw new NetworkError("The backend is closed", {
        hint: "Close the backend after its services and callers.",
      });
  }

  /**
   * Removes expired rows, at most once a minute. Any process may remove the rows of all processes.
   */
  #sweepLater(): void {
    const now = systemClock.monotonicMs();
    if (now - this.#sweptMs < SWEEP_MS || this.#sweeping !== undefined) return;
    this.#sweptMs = now;
    this.#sweeping = this.#sweep()
      .catch(() => undefined) // the next one removes it
      .finally(() => (this.#sweeping = undefined));
  }

  async #sweep(): Promise<void> {
    const s = `"${this.schema}"`;
    const expired: readonly (readonly [table: string, condition: string])[] = [
      ["requests", "state = 'DONE' and due <= clock_timestamp()"],
      ["results", "until <= clock_timestamp()"],
      ["catalogue", "until <= clock_timestamp()"],
      [
        "rate_calls",
        // The call of a dead process counts for its period. Only its window has the period.
        "until <= clock_timestamp() - (case when ended_at is null and started_at is not null then interval '1 year' else interval '0' end)",
      ],
      ["reservations", "until <= clock_timestamp() - interval '1 day'"],
      ["budgets", "updated_at <= clock_timestamp() - interval '30 days'"],
    ];
    for (const [table, condition] of expired)
      await this.#session.query(
        `delete from ${s}.${table} where ctid = any(array(select ctid from ${s}.${table} where ${condition} limit ${SWEPT_ROWS}))`,
        [],
      );
  }
}
