import type {
  Claim,
  ClaimEnd,
  ClaimRequest,
  Journal,
  JournalEntry,
  KeptEntry,
  KeptRun,
  Renewal,
  RunFilter,
  RunPage,
  RunStart,
} from "../../../../contracts/journal.js";
import type { SqlDatabase, SqlRow, SqlValue } from "../../../shared/sql/sql-database.js";
import { ValidationError } from "../../../../contracts/errors.js";
import { JournalError, RunInUseError } from "../../../../contracts/journal-errors.js";
import { checkOptions, preview, requireDuration } from "../../../../contracts/validation.js";
import { sleep } from "../../../../util/abort/timeouts.js";
import { systemClock, uuidGenerator } from "../../../../util/runtime.js";
import { jsonOf } from "../../../shared/json-data.js";
import { checkSchemaName, DEFAULT_SCHEMA } from "../../../shared/sql/migrations.js";
import { databaseAt, sqlPlace } from "../../../shared/sql/sql-place.js";
import { checkRunFilter, isEnded } from "../run-list.js";
import { EntryBatcher, entryLists } from "./entry-batcher.js";
import { journalStatements, type JournalStatements } from "./journal-statements.js";
import { entryColumns, entryFrom, runFrom, startColumns } from "./rows.js";
import { SqlReviews } from "./sql-reviews.js";
import { SqlSession } from "../../../shared/sql/sql-session.js";
import { fromColumn, tagColumn, toColumn } from "../../../shared/sql/sql-text.js";

/** The database of a journal. */
export interface SqlJournalOptions {
  /**
   * `postgres://user:password@host:5432/database` (package `pg`), or `pglite:<folder>` (package
   * `@electric-sql/pglite`) for one process at a time.
   */
  readonly url: string;
  /**
   * The database schema: at most 48 lower-case letters, digits and `_`. It is created if it is
   * missing. Default `agentensemble`.
   */
  readonly schema?: string | undefined;
  /**
   * Time limit in milliseconds for the server to accept a connection, and for each statement. If
   * the connection fails, its statement is repeated for three times this time. Not used for PGlite.
   * Default 9,000.
   */
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 9_000;
const PATIENCE = 10 / 3;
const DEFAULT_LIMIT = 50;
/** The limits of the interval in which a claim checks whether a run was released. */
const SHORTEST_LOOK_MS = 20;
const LONGEST_LOOK_MS = 500;
/** Number of attempts of a change while other processes claim and release the run. */
const ATTEMPTS = 5;

/**
 * Opens a journal in PostgreSQL: on a server, which any number of processes share, or in this
 * process with PGlite. Loads no package and opens no connection before the first call, which
 * creates missing tables.
 *
 * @throws ValidationError for invalid options.
 */
export function openSqlJournal(o: SqlJournalOptions): Journal {
  checkOptions("Journal", o, ["url", "schema", "timeoutMs"]);
  requireDuration("Journal timeoutMs", o.timeoutMs);
  const place = sqlPlace("Journal", o, DEFAULT_TIMEOUT_MS);
  const schema = checkSchemaName("Journal", o.schema ?? DEFAULT_SCHEMA);
  const timeoutMs = place.kind === "postgres" ? place.timeoutMs : DEFAULT_TIMEOUT_MS;
  return new SqlJournal(databaseAt(place, false), schema, {
    patienceMs: timeoutMs * PATIENCE,
    store: urlForPeople(o.url),
  });
}

/** Returns the URL without the user name and the password. */
function urlForPeople(url: string): string {
  if (url.startsWith("pglite:")) return url;
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname}${port === "" ? "" : `:${port}`}${pathname}`;
}

/** Settings of a journal for its database. */
export interface SqlJournalSettings {
  /** Time in which a statement is repeated while the connection is broken, in milliseconds. */
  readonly patienceMs: number;
  /** The URL in its shown form. */
  readonly store: string;
}

export class SqlJournal implements Journal {
  readonly name: string;
  readonly reviews: SqlReviews;
  readonly #session: SqlSession;
  readonly #statements: JournalStatements;
  readonly #batcher: EntryBatcher;
  #closing: Promise<void> | undefined;

  /** The caller has checked `schema`. */
  constructor(database: SqlDatabase, schema: string, { patienceMs, store }: SqlJournalSettings) {
    this.name = schema === DEFAULT_SCHEMA ? database.name : `${database.name}, schema ${schema}`;
    this.#session = new SqlSession(database, schema, {
      patienceMs,
      what: "journal",
      errorFrom: (message, details) => new JournalError(message, details),
    });
    this.#statements = journalStatements(schema);
    this.#batcher = new EntryBatcher(this.#session, this.#statements);
    this.reviews = new SqlReviews(this.#session, schema, store);
  }

  async claim({ start, owner, leaseMs, signal }: ClaimRequest): Promise<Claim> {
    this.#requireOpen();
    signal.throwIfAborted();
    const values = [
      toColumn(start.runId),
      toColumn(owner),
      uuidGenerator.next(),
      leaseMs,
      ...startColumns(start),
    ];
    const until = systemClock.monotonicMs() + leaseMs;
    for (let first: LeaseHolder | undefined; ;) {
      const isLast = systemClock.monotonicMs() >= until;
      const [taken] = await this.#session.query(this.#statements.claim, values, signal);
      if (taken !== undefined) return this.#claimed(start.runId, Number(taken["epoch"]), leaseMs);
      const holder = await this.#holderOf(start.runId);
      if (holder === undefined) continue; // the claim was released since
      first ??= holder;
      if (isLast || holder.until !== first.until || holder.owner !== first.owner)
        throw new RunInUseError(start.runId, holder.owner);
      const lookMs = Math.min(LONGEST_LOOK_MS, Math.max(SHORTEST_LOOK_MS, leaseMs / 20));
      const waitMs = Math.max(1, Math.min(holder.leftMs, until - systemClock.monotonicMs()));
      await sleep(Math.min(lookMs, waitMs), signal);
    }
  }

  async append(claim: Claim, entry: JournalEntry): Promise<void> {
    this.#requireOpen();
    await this.#batcher.append(claim, entry);
  }

  async renew({ runId, epoch }: Claim): Promise<Renewal> {
    const [row] = await this.#query(this.#statements.renew, [toColumn(runId), String(epoch)]);
    if (row === undefined) return { state: "lost" };
    const reason = row["cancel_reason"];
    return typeof reason === "string"
      ? { state: "held", cancelReason: fromColumn(reason) }
      : { state: "held" };
  }

  async release({ runId, epoch }: Claim, { status, waitsFor, result }: ClaimEnd): Promise<void> {
    this.#requireOpen();
    await this.#batcher.settled({ runId, epoch });
    await this.#query(this.#statements.release, [
      toColumn(runId),
      String(epoch),
      status,
      toColumn(waitsFor ?? ""),
      result === undefined ? "" : jsonOf("The result of a run", result),
    ]);
  }

  async get(runId: string): Promise<KeptRun | undefined> {
    const [row] = await this.#query(this.#statements.record, [toColumn(runId)]);
    return row === undefined ? undefined : runFrom(row);
  }

  async list(filter: RunFilter = {}): Promise<RunPage> {
    this.#requireOpen();
    checkRunFilter(filter);
    const { limit = DEFAULT_LIMIT } = filter;
    const { conditions, values } = conditionsOf(filter);
    const rows = await this.#query(this.#statements.records(conditions, limit + 1), values);
    const runs = rows.slice(0, limit).map(runFrom);
    const next = rows.length > limit ? rows[limit - 1]?.["n"] : undefined;
    return typeof next === "string" ? { runs, next } : { runs };
  }

  async entries(runId: string): Promise<readonly KeptEntry[]> {
    this.#requireOpen();
    return this.#read(runId, this.#statements.entries);
  }

  async create(start: RunStart, entries: readonly JournalEntry[], waitsFor: string): Promise<void> {
    this.#requireOpen();
    const id = toColumn(start.runId);
    const made = await this.#query(this.#statements.create, [
      entries.map(() => id),
      entries.map(() => "0"),
      ...entryLists(entries.map(entryColumns)),
      entries.map(() => "1"),
      id,
      ...startColumns(start),
      toColumn(waitsFor),
      uuidGenerator.next(),
    ]);
    if (made.length === 0) throw new ValidationError(`There is a run '${start.runId}' already`);
  }

  async amend(runId: string, entry: JournalEntry): Promise<void> {
    this.#requireOpen();
    const { key, fullKey, kind, task, hash, covers, value } = entryColumns(entry);
    const end = await this.#onFree(runId, (free) =>
      this.#query(this.#statements.amend, [...free, key, fullKey, kind, task, hash, covers, value]),
    );
    if (end !== "done") throw new ValidationError(`There is no run '${runId}'`);
  }

  async cancel(runId: string, reason: string): Promise<boolean> {
    const values = [toColumn(runId), toColumn(reason)];
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if ((await this.#query(this.#statements.cancel, values)).length > 0) return true;
      const run = await this.get(runId);
      if (run === undefined || isEnded(run.status)) return false;
    }
    throw this.#unsettled(runId);
  }

  async delete(runId: string): Promise<boolean> {
    const end = await this.#onFree(runId, (free) => this.#query(this.#statements.delete, free));
    this.reviews.look();
    return end !== "unknown";
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    await this.#batcher.idle();
    await this.reviews.close();
    await this.#session.close();
  }

  /** Returns the stored state of a run that was just claimed. */
  async #claimed(runId: string, epoch: number, leaseMs: number): Promise<Claim> {
    const id = toColumn(runId);
    const [row] = await this.#session.query(this.#statements.claimed, [id, String(epoch)]);
    if (row === undefined)
      throw new RunInUseError(runId, (await this.#holderOf(runId))?.owner ?? "another process");
    let renewedMs = systemClock.monotonicMs();
    const entries = await this.#read(runId, this.#statements.neededEntries, async () => {
      // Reading many entries takes longer than a lease.
      if (systemClock.monotonicMs() - renewedMs < leaseMs / 3) return;
      renewedMs = systemClock.monotonicMs();
      const renewed = await this.#session.query(this.#statements.renew, [id, String(epoch)]);
      if (renewed.length === 0) throw new RunInUseError(runId, "another process");
    });
    return { runId, epoch, record: runFrom(row), entries };
  }

  /** Reads the entries of a run. `onPage` is awaited after each page. */
  async #read(
    runId: string,
    statement: string,
    onPage?: () => Promise<void>,
  ): Promise<readonly KeptEntry[]> {
    const entries = new Map<string, KeptEntry>();
    for (let after: string | undefined = "0"; after !== undefined;) {
      const rows: readonly SqlRow[] = await this.#session.query(statement, [
        toColumn(runId),
        after,
      ]);
      for (const row of rows) {
        const entry = entryFrom(row);
        // An entry that was replaced during the read moves to the position of the newer entry.
        entries.delete(entry.key);
        entries.set(entry.key, entry);
      }
      after = rows.at(-1)?.["n"] ?? undefined;
      await onPage?.();
    }
    return [...entries.values()];
  }

  async #holderOf(runId: string): Promise<LeaseHolder | undefined> {
    const [row] = await this.#session.query(this.#statements.holder, [toColumn(runId)]);
    if (row === undefined) return undefined;
    const { owner, until, left_ms: leftMs } = row;
    return { owner: fromColumn(owner ?? ""), until: until ?? "", leftMs: Number(leftMs) };
  }

  /**
   * Changes a run that no process executes. Its lease gets a new epoch first, so that its previous
   * process can't write afterwards. `work` does nothing if another process claims the run in the
   * meantime. Returns `gone` if the run was deleted in the meantime.
   */
  async #onFree(
    runId: string,
    work: (free: readonly [string, string]) => Promise<readonly SqlRow[]>,
  ): Promise<"done" | "gone" | "unknown"> {
    const id = toColumn(runId);
    let wasThere = false;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const [free] = await this.#query(this.#statements.fence, [id]);
      wasThere ||= free !== undefined;
      const rows = free === undefined ? [] : await work([id, free["epoch"] ?? ""]);
      if (rows.length > 0) return "done";
      const run = await this.get(runId);
      if (run === undefined) return wasThere ? "gone" : "unknown";
      if (run.owner !== undefined) throw new RunInUseError(runId, run.owner);
    }
    throw this.#unsettled(runId);
  }

  #unsettled(runId: string): JournalError {
    return new JournalError(`${this.name}: run '${preview(runId)}' changes hands all the time`);
  }

  async #query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    this.#requireOpen();
    return this.#session.query(text, values);
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw new JournalError(`${this.name}: the journal is closed`);
  }
}

/** The process that executes a run. */
interface LeaseHolder {
  readonly owner: string;
  /** Changes with each renewal. */
  readonly until: string;
  /** Remaining time in milliseconds by the clock of the database. */
  readonly leftMs: number;
}

/** @throws ValidationError for an invalid cursor. */
function conditionsOf({ status, ensemble, tags = {}, updatedBefore, after }: RunFilter): {
  readonly conditions: readonly string[];
  readonly values: readonly SqlValue[];
} {
  if (after !== undefined && !/^\d{1,18}$/.test(after))
    throw new ValidationError(
      `after must be the \`next\` of a page of runs, got: ${preview(after)}`,
    );
  const wanted: readonly (readonly [
    condition: (place: string) => string,
    value: SqlValue | undefined,
  ])[] = [
    [(place) => `run.status = ${place}`, status],
    [(place) => `run.ensemble = ${place}`, ensemble === undefined ? undefined : toColumn(ensemble)],
    [(place) => `run.tags @> ${place}::text[]`, tagList(tags)],
    [
      (place) => `run.updated_at < to_timestamp(${place}::float8)`,
      updatedBefore === undefined ? undefined : Math.max(0, Date.parse(updatedBefore)) / 1_000,
    ],
    [(place) => `run.n < ${place}::bigint`, after],
  ];
  const given = wanted.filter(([, value]) => value !== undefined);
  return {
    conditions: given.map(([condition], index) => condition(`$${index + 1}`)),
    values: given.flatMap(([, value]) => (value === undefined ? [] : [value])),
  };
}

function tagList(tags: Readonly<Record<string, string>>): readonly string[] | undefined {
  const list = Object.entries(tags).map(([name, value]) => tagColumn(name, value));
  return list.length === 0 ? undefined : list;
}
