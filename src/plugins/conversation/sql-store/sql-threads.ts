import type {
  ConversationStore,
  StoredTurn,
  ThreadChange,
  ThreadHead,
  ThreadLock,
  ThreadLockOptions,
  ThreadPage,
  ThreadQuery,
  TurnQuery,
} from "../../../contracts/conversation.js";
import type { Clock } from "../../../contracts/runtime.js";
import type { SqlDatabase, SqlRow, SqlValue } from "../../shared/sql/sql-database.js";
import type { SqlThreadsOptions } from "./sql-threads-options.js";
import {
  ConversationConflictError,
  ConversationStoreError,
  ThreadBusyError,
} from "../../../contracts/conversation-errors.js";
import { systemClock } from "../../../util/runtime.js";
import { openSchema } from "../../shared/sql/migrations.js";
import { databaseReason } from "../../shared/sql/sql-database.js";
import { databaseAt } from "../../shared/sql/sql-place.js";
import { indexedKey, toColumn } from "../../shared/sql/sql-text.js";
import { checkThreadId, checkThreadQuery, checkTurnQuery } from "../shared/checks.js";
import { nextHead } from "../shared/next-head.js";
import { storeFailureOf } from "../shared/store-failure.js";
import { cutPage, placeOf } from "../shared/thread-list.js";
import { ThreadQueue } from "../shared/thread-queue.js";
import { resolveSqlThreads } from "./sql-threads-options.js";
import { threadStatements, type ThreadStatements } from "./thread-statements.js";

/** Threads in PostgreSQL, on a server or in this process. Several processes may use a server. */
export class SqlThreads implements ConversationStore {
  readonly #database: SqlDatabase;
  readonly #schema: string;
  readonly #statements: ThreadStatements;
  readonly #clock: Pick<Clock, "now">;
  readonly #queue = new ThreadQueue();
  #opening: Promise<void> | undefined;
  #closed = false;

  constructor(database: SqlDatabase, schema: string, clock: Pick<Clock, "now"> = systemClock) {
    this.#database = database;
    this.#schema = schema;
    this.#statements = threadStatements(schema);
    this.#clock = clock;
  }

  async open(threadId: string): Promise<ThreadHead | undefined> {
    checkThreadId(threadId);
    const [row] = await this.#query("open", threadId, this.#statements.open, [
      indexedKey(threadId),
    ]);
    return row === undefined ? undefined : headOf(row);
  }

  async read(threadId: string, query: TurnQuery): Promise<readonly StoredTurn[]> {
    checkThreadId(threadId);
    checkTurnQuery(query);
    const { limit, before = Number.MAX_SAFE_INTEGER } = query;
    const values = [indexedKey(threadId), String(before), String(limit)];
    const rows = await this.#query("read", threadId, this.#statements.read, values);
    // `append` wrote the text.
    return rows.map(({ turn }) => JSON.parse(turn ?? "") as StoredTurn).reverse();
  }

  async append(threadId: string, change: ThreadChange): Promise<ThreadHead> {
    const { turns = [] } = change;
    const before = await this.open(threadId);
    const head = nextHead(threadId, before, change, this.#clock.now());
    const values: readonly SqlValue[] = [
      indexedKey(threadId),
      String(change.expectedVersion),
      ownerColumn(head.owner),
      head.updatedAt,
      JSON.stringify(head),
      turns.map(({ n }) => String(n)),
      turns.map((turn) => JSON.stringify(turn)),
    ];
    const { create, change: update } = this.#statements;
    const written = await (before === undefined
      ? this.#query("append", threadId, create, values)
      : this.#query("append", threadId, update, [...values, String(head.turns - turns.length)]));
    if (written.length === 0) throw new ConversationConflictError(threadId, change.expectedVersion);
    return head;
  }

  async list(query: ThreadQuery = {}): Promise<ThreadPage> {
    const limit = checkThreadQuery(query);
    const [at, id] = query.after === undefined ? ["", ""] : placeOf(query.after);
    const rows = await this.#query("list", "", this.#statements.list, [
      query.owner === undefined ? "" : ownerColumn(query.owner),
      at,
      indexedKey(id),
      String(limit + 1),
    ]);
    return cutPage(rows.map(headOf), limit);
  }

  async delete(threadId: string): Promise<boolean> {
    checkThreadId(threadId);
    const { remove } = this.#statements;
    return (await this.#query("delete", threadId, remove, [indexedKey(threadId)])).length > 0;
  }

  async lock(threadId: string, options: ThreadLockOptions): Promise<ThreadLock> {
    checkThreadId(threadId);
    const free = await this.#queue.take(threadId, options);
    try {
      return await this.#lockEverywhere(threadId, options, free);
    } catch (error) {
      free();
      if (options.signal.aborted) throw error;
      throw storeFailureOf(error, this.#database.name, { threadId, operation: "lock" });
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#database.close();
  }

  /** Locks the thread in a session of the server, until the lock is released. */
  async #lockEverywhere(
    threadId: string,
    { timeoutMs, signal }: ThreadLockOptions,
    free: () => void,
  ): Promise<ThreadLock> {
    this.#requireOpen("lock", threadId);
    let letGo: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (letGo = resolve));
    let grant: () => void = () => undefined;
    const granted = new Promise<void>((resolve) => (grant = resolve));
    const holding = this.#database.locked(
      `agentensemble/thread/${this.#schema}/${indexedKey(threadId)}`,
      Math.max(1, timeoutMs),
      async () => {
        grant();
        await released;
      },
      (cause) => new ThreadBusyError(threadId, timeoutMs, { cause }),
    );
    // A broken connection also releases the lock. The versions of changes detect a conflict.
    const over = holding.catch(() => undefined);
    let stopWaiting: () => void = () => undefined;
    const aborted = new Promise<void>((resolve) => (stopWaiting = resolve));
    const onAbort = (): void => {
      letGo(); // if the server grants the lock later, it is released at once
      stopWaiting();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    await Promise.race([granted, holding, aborted]);
    signal.removeEventListener("abort", onAbort);
    signal.throwIfAborted();
    return {
      release: async () => {
        letGo();
        await over;
        free();
      },
    };
  }

  async #query(
    operation: string,
    threadId: string,
    text: string,
    values: readonly SqlValue[],
  ): Promise<readonly SqlRow[]> {
    this.#requireOpen(operation, threadId);
    try {
      this.#opening ??= openSchema(this.#database, this.#schema);
      await this.#opening;
      return await this.#database.query(text, values);
    } catch (error) {
      this.#opening = undefined; // the next call checks the schema again
      const reason = error instanceof AggregateError ? new Error(databaseReason(error)) : error;
      throw storeFailureOf(reason, this.#database.name, { threadId, operation });
    }
  }

  #requireOpen(operation: string, threadId: string): void {
    if (this.#closed)
      throw new ConversationStoreError(`${this.#database.name}: the thread store is closed`, {
        threadId,
        operation,
      });
  }
}

function headOf({ head }: SqlRow): ThreadHead {
  return Object.freeze(JSON.parse(head ?? "") as ThreadHead); // `append` wrote the text
}

/** Returns the owner as a column, which is empty for a thread without an owner. */
function ownerColumn(owner: string | undefined): string {
  return owner === undefined ? "" : toColumn(owner);
}

/**
 * Returns the store. Nothing is loaded or connected before the first call.
 * @throws ValidationError
 */
export function sqlThreads(options: SqlThreadsOptions): SqlThreads {
  const { place, schema } = resolveSqlThreads(options);
  return new SqlThreads(databaseAt(place, false), schema);
}
