import type {
  AuditEntry,
  AuditPage,
  LogEntry,
  RunQuery,
  RunStore,
  RunSummary,
} from "../../../../contracts/run-store.js";
import type { SqlDatabase, SqlRow, SqlValue } from "../../../shared/sql/sql-database.js";
import { AgentEnsembleError } from "../../../../contracts/errors.js";
import { RunStoreError } from "../../../../contracts/state-errors.js";
import { checkOptions, preview } from "../../../../contracts/validation.js";
import { uuidGenerator } from "../../../../util/runtime.js";
import {
  checkSchemaName,
  DEFAULT_SCHEMA,
  openSchema,
  SchemaError,
} from "../../../shared/sql/migrations.js";
import { databaseReason } from "../../../shared/sql/sql-database.js";
import { databaseAt, sqlPlace } from "../../../shared/sql/sql-place.js";
import { fromColumn, tagColumn, toColumn } from "../../../shared/sql/sql-text.js";
import {
  checkRunQuery,
  cutPage,
  shownTexts,
  sumsOf,
  type ListedRuns,
  type RunTotals,
} from "../run-query.js";
import { needsProcess } from "../run-states.js";
import { conditionsOfQuery, storeStatements, type StoreStatements } from "./store-statements.js";

/** The database of a run store. */
export interface SqlRunsOptions {
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
}

const WHAT = "RunStore.sql";
const TIMEOUT_MS = 9_000;
/** Maximum number of entries, and approximate number of characters, of one statement. */
const BATCH = 200;
const BATCH_CHARACTERS = 4 << 20;
/** Greater than every entry number. */
const LAST = String(Number.MAX_SAFE_INTEGER);
/**
 * Interval of heartbeats in milliseconds. A process counts as ended after 60 seconds without a
 * heartbeat.
 */
const HEARTBEAT_MS = 15_000;

/**
 * Returns a store of runs in PostgreSQL, on a server or in this process with PGlite. Any number of
 * processes may share a server. Nothing is loaded or connected before the first call, which creates
 * the missing tables.
 * @throws ValidationError for invalid options.
 */
export function sqlRuns(o: SqlRunsOptions): RunStore {
  checkOptions(WHAT, o, ["url", "schema"]);
  const place = sqlPlace(WHAT, o, TIMEOUT_MS);
  return new SqlRuns(databaseAt(place, false), checkSchemaName(WHAT, o.schema ?? DEFAULT_SCHEMA));
}

export class SqlRuns implements RunStore {
  readonly #database: SqlDatabase;
  readonly #schema: string;
  readonly #statements: StoreStatements;
  /** Identifies this object among the writers of the database. */
  readonly #writer = uuidGenerator.next();
  #opening: Promise<void> | undefined;
  #seen: Promise<void> | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** The caller has checked `schema`. */
  constructor(database: SqlDatabase, schema: string) {
    this.#database = database;
    this.#schema = schema;
    this.#statements = storeStatements(schema);
  }

  async append(runId: string, entries: readonly LogEntry[]): Promise<void> {
    for (const batch of batchesOf(entries))
      await this.#query(this.#statements.append, [
        toColumn(runId),
        batch.map(({ n }) => n),
        batch.map(({ text }) => text),
      ]);
  }

  async put(run: RunSummary): Promise<void> {
    const values = summaryColumns(run, this.#writer); // the caller may change it later
    await this.#showLife();
    await this.#query(this.#statements.put, values);
  }

  async list(query: RunQuery): Promise<ListedRuns> {
    const { limit, cursor, from, to } = checkRunQuery(query);
    const { text, values } = conditionsOfQuery({
      ...query,
      ...(from !== undefined && { from: columnInstant(from) }),
      ...(to !== undefined && { to: columnInstant(to) }),
    });
    const places = cursor === undefined ? [] : [values.length + 1, values.length + 2];
    const page = this.#statements.page(
      text,
      places.map((place) => `$${place}`),
      limit + 1,
    );
    const behind = cursor === undefined ? [] : [columnInstant(cursor[0]), toColumn(cursor[1])];
    const rows = await this.#query(page, [...values, ...behind]);
    const groups = (await this.#query(this.#statements.sums(text), values)).map(totalsOf);
    return {
      ...cutPage(rows.map(summaryFrom), limit),
      total: groups.reduce((total, { runs }) => total + runs, 0),
      sums: sumsOf(groups),
    };
  }

  async get(runId: string): Promise<RunSummary | undefined> {
    const [row] = await this.#query(this.#statements.get, [toColumn(runId)]);
    return row && summaryFrom(row);
  }

  async read(runId: string, after: number, limit: number): Promise<readonly LogEntry[]> {
    const rows = await this.#query(this.#statements.read, [toColumn(runId), after, limit]);
    return rows.map(
      ({ entry }) => parsedRunColumn(entry, `An entry of run '${runId}'`) as LogEntry,
    ); // written by `append`
  }

  async remove(runId: string): Promise<void> {
    await this.#query(this.#statements.remove, [toColumn(runId)]);
  }

  async putTrace(runId: string, trace: string): Promise<void> {
    await this.#query(this.#statements.putTrace, [toColumn(runId), trace]);
  }

  async trace(runId: string): Promise<string | undefined> {
    const [row] = await this.#query(this.#statements.trace, [toColumn(runId)]);
    return row?.["trace"] ?? undefined;
  }

  async appendAudit(entry: AuditEntry): Promise<void> {
    await this.#query(this.#statements.appendAudit, [JSON.stringify(entry)]);
  }

  async readAudit(limit: number, before?: string): Promise<AuditPage> {
    const rows = await this.#query(this.#statements.readAudit, [before ?? LAST, limit]);
    const entries = rows.map(
      ({ entry }) => parsedRunColumn(entry, "An entry of the audit") as AuditEntry,
    ); // written by `appendAudit`
    const last = rows.length === limit ? rows.at(-1)?.["n"] : undefined;
    return { entries, ...(last !== undefined && last !== null && { next: last }) };
  }

  async dispose(): Promise<void> {
    if (this.#isClosed) return;
    clearInterval(this.#heartbeat);
    try {
      // Marks the current runs of this process as interrupted. If the database does not respond,
      // they count as interrupted after a minute.
      if (this.#seen !== undefined) await this.#query(this.#statements.gone, [this.#writer]);
    } catch {
      // ^The database does not respond, so no further step is possible.
    } finally {
      this.#isClosed = true;
      await this.#database.close();
    }
  }

  /** Starts the heartbeat for other processes at the first summary. */
  #showLife(): Promise<void> {
    this.#seen ??= this.#query(this.#statements.seen, [this.#writer]).then(
      () => {
        this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
      },
      (error: unknown) => {
        this.#seen = undefined; // the next summary tries again
        throw error;
      },
    );
    return this.#seen;
  }

  #beat(): void {
    // A later write reports the failure, and the next heartbeat tries again.
    this.#query(this.#statements.seen, [this.#writer]).catch(() => undefined);
  }

  async #query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    if (this.#isClosed)
      throw new RunStoreError(`${this.#database.name}: the store of runs is closed`);
    try {
      await this.#open();
      return await this.#database.query(text, values);
    } catch (cause) {
      throw this.#errorOf(cause);
    }
  }

  async #open(): Promise<void> {
    this.#opening ??= openSchema(this.#database, this.#schema);
    try {
      await this.#opening;
    } catch (error) {
      this.#opening = undefined; // the next statement tries again
      throw error;
    }
  }

  #errorOf(cause: unknown): AgentEnsembleError {
    // A package is missing.
    if (AgentEnsembleError.isInstance(cause) && cause.code === "AE_VALIDATION") return cause;
    const hint = cause instanceof SchemaError || AgentEnsembleError.isInstance(cause) ? cause.hint : undefined; // prettier-ignore
    const message = `${this.#database.name}: ${preview(databaseReason(cause), 2_000)}`;
    return new RunStoreError(message, {
      cause,
      hint: hint ?? "Check that the database can be reached, and its address.",
    });
  }
}

interface EntryText {
  readonly n: string;
  readonly text: string;
}

/** Yields entries as JSON, in batches for one statement. */
function* batchesOf(entries: readonly LogEntry[]): Generator<readonly EntryText[]> {
  let batch: EntryText[] = [];
  let characters = 0;
  for (const { n, text } of entries.map((entry) => ({
    n: String(entry.n),
    text: JSON.stringify(entry),
  }))) {
    if (batch.length === BATCH || (characters + text.length > BATCH_CHARACTERS && characters > 0)) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push({ n, text });
    characters += text.length;
  }
  if (batch.length > 0) yield batch;
}

/** Returns the values of the statement `put`. */
function summaryColumns(run: RunSummary, writer: string): readonly SqlValue[] {
  const { totals } = run;
  return [
    toColumn(run.runId),
    toColumn(run.ensemble),
    run.state,
    String(needsProcess(run)),
    writer,
    columnInstant(run.startedAt),
    Object.entries(run.tags).map(([name, value]) => tagColumn(name, value)),
    totals.inputTokens,
    totals.outputTokens,
    totals.unknownCalls,
    totals.calls,
    totals.tools,
    totals.cost,
    toColumn(totals.currency ?? ""),
    shownTexts(run),
    String(run.baseline === true),
    JSON.stringify(run),
  ];
}

/**
 * Returns the instant in the form of the database. Returns the earliest instant for an invalid
 * text.
 */
function columnInstant(text: string): string {
  const ms = Date.parse(text);
  return new Date(Number.isNaN(ms) ? 0 : ms).toISOString();
}

function summaryFrom({ summary, state }: SqlRow): RunSummary {
  const run = parsedRunColumn(summary, "A summary of a run") as RunSummary; // written by `put`
  return { ...run, state: state as RunSummary["state"] }; // as `put` wrote it, or interrupted
}

function totalsOf(row: SqlRow): RunTotals {
  return {
    state: row["state"] as RunSummary["state"], // as `put` wrote it, or interrupted
    currency: fromColumn(row["currency"] ?? ""),
    runs: Number(row["runs"]),
    cost: Number(row["cost"]),
    inputTokens: Number(row["input_tokens"]),
    outputTokens: Number(row["output_tokens"]),
    unknownCalls: Number(row["unknown_calls"]),
    calls: Number(row["calls"]),
    tools: Number(row["tools"]),
  };
}

function parsedRunColumn(text: string | null | undefined, what: string): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch (cause) {
    throw new RunStoreError(`${what} in the database is not JSON`, { cause });
  }
}
