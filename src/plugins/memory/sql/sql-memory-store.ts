import type {
  EvictionPolicy,
  MemoryEntry,
  SharedMemoryStore,
  VersionedEntries,
} from "../../../contracts/memory.js";
import type { EntryData } from "../shared/frozen-entry.js";
import type { ResolvedSqlMemoryOptions, SqlMemoryOptions } from "./sql-options.js";
import type { SqlDatabase, SqlRow, SqlValue } from "../../shared/sql/sql-database.js";
import type { Statements } from "./statements.js";
import { AgentEnsembleError, ValidationError } from "../../../contracts/errors.js";
import { MemoryConflictError, MemoryStoreError } from "../../../contracts/state-errors.js";
import { preview } from "../../../contracts/validation.js";
import {
  checkExpectedVersion,
  checkLock,
  checkMaxResults,
  checkPolicy,
  checkScope,
  keptBy,
} from "../shared/checks.js";
import { entryFromData, entryJson } from "../shared/frozen-entry.js";

import { lockTimeout, ScopeLocks } from "../shared/scope-locks.js";
import { TextVectors } from "../shared/text-vectors.js";
import { openTable } from "./open-table.js";
import { resolveSqlMemoryOptions } from "./sql-options.js";
import { databaseReason } from "../../shared/sql/sql-database.js";
import { databaseAt } from "../../shared/sql/sql-place.js";
import { statementsOf } from "./statements.js";
import { hasText } from "../../../util/text.js";

/**
 * Rejects texts that PostgreSQL would reject or change: those with a NUL character or an unpaired
 * surrogate.
 */
function checkSqlScope(scope: string): void {
  checkScope(scope);
  if (/\0|\p{Surrogate}/u.test(scope))
    throw new ValidationError(
      `scope must be well-formed text without a zero character, got: ${JSON.stringify(preview(scope))}`,
    );
}

const entryFromText = (text: string | null | undefined): MemoryEntry =>
  entryFromData(JSON.parse(text ?? "") as EntryData); // written by entryJson

/**
 * Formats the vector with length 1. Only the direction matters, and very large or small numbers
 * would exceed the database's range.
 */
function vectorText(vector: readonly number[]): string {
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  return `[${vector.map((number) => Math.fround(number / length)).join(",")}]`;
}

/**
 * Keeps entries, versions and locks of scopes in PostgreSQL. All processes that use the table see
 * the same state.
 */
export class SqlMemoryStore implements SharedMemoryStore {
  readonly #database: SqlDatabase;
  readonly #statements: Statements;
  readonly #texts: TextVectors | undefined;
  readonly #table: string;
  readonly #minScore: number;
  readonly #locks = new ScopeLocks();
  #opened: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    database: SqlDatabase,
    { model, table, minScore }: Omit<ResolvedSqlMemoryOptions, "place">,
  ) {
    this.#database = database;
    this.#texts = model === undefined ? undefined : new TextVectors(model);
    this.#table = table;
    this.#statements = statementsOf(table, model !== undefined);
    this.#minScore = minScore;
  }

  async store(scope: string, entry: MemoryEntry): Promise<void> {
    checkSqlScope(scope);
    await this.#run("store", scope, this.#statements.store, await this.#row("store", scope, entry));
  }

  async storeIf(scope: string, entry: MemoryEntry, expectedVersion: number): Promise<number> {
    checkSqlScope(scope);
    checkExpectedVersion(expectedVersion);
    const { storeFirst, storeNext } = this.#statements;
    const row = await this.#row("storeIf", scope, entry);
    const [statement, values] =
      expectedVersion === 0 ? [storeFirst, row] : [storeNext, [...row, String(expectedVersion)]];
    const written = await this.#run("storeIf", scope, statement, values);
    if (written.length === 0) throw new MemoryConflictError(scope, expectedVersion);
    return expectedVersion + 1;
  }

  async retrieve(
    scope: string,
    query: string,
    maxResults: number,
  ): Promise<readonly MemoryEntry[]> {
    return (await this.retrieveVersioned(scope, query, maxResults)).entries;
  }

  async retrieveVersioned(
    scope: string,
    query: string,
    maxResults: number,
  ): Promise<VersionedEntries> {
    checkSqlScope(scope);
    checkMaxResults(maxResults);
    const rows = await this.#find(scope, query, maxResults);
    const found = rows.filter(
      ({ id, score }) =>
        typeof id === "string" && (typeof score !== "string" || Number(score) >= this.#minScore),
    );
    const entries = Object.freeze(found.map(({ entry }) => entryFromText(entry)));
    return Object.freeze({ entries, version: Number(rows[0]?.["version"] ?? 0) });
  }

  async evict(scope: string, policy: EvictionPolicy): Promise<void> {
    checkSqlScope(scope);
    checkPolicy(policy);
    const rows = await this.#run("evict", scope, this.#statements.all, [scope]);
    const kept = keptBy(
      policy,
      rows.map(({ entry }) => entryFromText(entry)),
    );
    const ids = rows.filter((_, index) => kept[index] === false).map(({ id }) => id ?? "");
    if (ids.length > 0) await this.#run("evict", scope, this.#statements.remove, [scope, ids]);
  }

  async clear(scope: string): Promise<void> {
    checkSqlScope(scope);
    await this.#run("clear", scope, this.#statements.clear, [scope]);
  }

  async withLock<T>(
    scope: string,
    work: () => Promise<T>,
    options: { readonly timeoutMs?: number | undefined } = {},
  ): Promise<T> {
    const timeoutMs = checkLock(scope, work, options);
    checkSqlScope(scope);
    const until = performance.now() + timeoutMs;
    return this.#locks.run(
      scope,
      () => this.#lockedEverywhere(scope, work, timeoutMs, until),
      timeoutMs,
    );
  }

  async close(): Promise<void> {
    this.#closing ??= this.#database.close();
    await this.#closing;
  }

  /** Rethrows errors of `work` unchanged. Converts errors of the lock into MemoryStoreError. */
  async #lockedEverywhere<T>(
    scope: string,
    work: () => Promise<T>,
    timeoutMs: number,
    until: number,
  ): Promise<T> {
    const guarded = async (): Promise<() => T> => {
      try {
        const value = await work();
        return () => value;
      } catch (error) {
        return () => {
          throw error;
        };
      }
    };
    const late = (cause: unknown): Error => {
      const { message, hint } = lockTimeout(scope, timeoutMs);
      return new MemoryStoreError(message, { operation: "withLock", scope }, { cause, hint });
    };
    const name = `agentensemble/lock/${this.#table}/${scope}`;
    const rest = Math.max(1, until - performance.now());
    const outcome = await this.#asking("withLock", scope, () =>
      this.#database.locked(name, rest, guarded, late),
    );
    return outcome();
  }

  async #row(operation: string, scope: string, entry: MemoryEntry): Promise<readonly SqlValue[]> {
    const json = entryJson(entry);
    return this.#texts === undefined
      ? [scope, json]
      : [scope, json, vectorText(await this.#texts.of(entry.content, { operation, scope }))];
  }

  async #find(scope: string, query: string, maxResults: number): Promise<readonly SqlRow[]> {
    const operation = "retrieve";
    const { latest, nearest } = this.#statements;
    if (this.#texts === undefined || !hasText(query))
      return [...(await this.#run(operation, scope, latest, [scope, maxResults]))].reverse();
    const vector = await this.#texts.ofQuery(query, { operation, scope });
    return this.#run(operation, scope, nearest, [scope, maxResults, vectorText(vector)]);
  }

  async #run(
    operation: string,
    scope: string,
    text: string,
    values: readonly SqlValue[],
  ): Promise<readonly SqlRow[]> {
    return this.#asking(operation, scope, async () => {
      const table = { name: this.#table, statements: this.#statements, texts: this.#texts };
      this.#opened ??= openTable(this.#database, table, { operation, scope });
      await this.#opened;
      return this.#database.query(text, values);
    });
  }

  async #asking<T>(operation: string, scope: string, work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined)
      throw new MemoryStoreError(`${this.#database.name}: the memory store is closed`, {
        operation,
        scope,
      });
    try {
      return await work();
    } catch (cause) {
      this.#opened = undefined; // after any error the next call checks the table again
      if (AgentEnsembleError.isInstance(cause)) throw cause;
      const message = `Memory scope '${preview(scope)}': ${this.#database.name} failed to ${operation}: ${preview(databaseReason(cause), 2_000)}`;
      throw new MemoryStoreError(message, { operation, scope }, { cause });
    }
  }
}

/**
 * Creates a memory in PostgreSQL: on a server, or in this process with PGlite. With a `model`,
 * searches are by meaning. Otherwise they return the latest entries. Versions and locks are in the
 * database. Nothing is loaded or connected before the first call, which creates missing tables. The
 * caller must close it.
 *
 * @example
 * const memory = sqlMemoryStore({ url: "pglite:./memory", model: hashedBagOfWords() });
 * @throws ValidationError for invalid options
 */
export function sqlMemoryStore(options: SqlMemoryOptions): SharedMemoryStore {
  const { place, ...resolved } = resolveSqlMemoryOptions(options);
  const database = databaseAt(place, resolved.model !== undefined);
  return new SqlMemoryStore(database, resolved);
}
