import type {
  ConversationStore as Store,
  WindowPolicy as Policy,
} from "../contracts/conversation.js";
import type { InMemoryThreadsOptions } from "../plugins/conversation/memory-store/in-memory-threads.js";
import type { SqlThreadsOptions } from "../plugins/conversation/sql-store/sql-threads-options.js";
import type {
  LastTurnsOptions,
  SummaryWindowOptions,
} from "../plugins/conversation/windows/window-policies.js";
import { FileThreads } from "../plugins/conversation/file-store/file-threads.js";
import { InMemoryThreads } from "../plugins/conversation/memory-store/in-memory-threads.js";
import { sqlThreads } from "../plugins/conversation/sql-store/sql-threads.js";
import {
  allTurns,
  lastTurns,
  summarized,
  tokenBudget,
} from "../plugins/conversation/windows/window-policies.js";

// Factories with the name of a type, as in src/ensemble/factories.ts.

/** Stores threads. See the contract. */
export type ConversationStore = Store;

/** The stores of threads, for the option `store` of a conversation. */
export const ConversationStore = Object.freeze({
  /**
   * Stores threads in memory, for the lifetime of the object and within limits.
   *
   * @throws ValidationError for invalid options.
   */
  inMemory: (options?: InMemoryThreadsOptions): ConversationStore => new InMemoryThreads(options),
  /**
   * Stores threads permanently in a folder, with one file of JSON lines per thread, created at the
   * first change. Several processes may use the folder. A relative path is resolved against the
   * current folder at the time of this call.
   *
   * @throws ValidationError for a blank folder.
   */
  file: (folder: string): ConversationStore => new FileThreads(folder),
  /**
   * Stores threads permanently in PostgreSQL, on a server or in this process. Loads no package and
   * opens no connection before the first call. The caller must close the store.
   *
   * @throws ValidationError for invalid options.
   */
  sql: (options: SqlThreadsOptions): ConversationStore => sqlThreads(options),
});

/** Selects the messages of a thread that a model receives. See the contract. */
export type WindowPolicy = Policy;

/**
 * The available window policies, for the option `window` of a conversation. All throw
 * ValidationError for options out of range.
 */
export const WindowPolicy = Object.freeze({
  /** Selects the last `n` turns. By default, conversations select the last 50 turns. */
  lastTurns: (n: number, options?: LastTurnsOptions): WindowPolicy => lastTurns(n, options),
  /** Selects the last turns that have at most `max` tokens together, but at least one turn. */
  tokens: (max: number): WindowPolicy => tokenBudget(max),
  /**
   * Selects the last turns that fit, and a summary of the earlier turns. All turns remain in the
   * store.
   */
  summary: (options: SummaryWindowOptions): WindowPolicy => summarized(options),
  /** Selects all turns. */
  all: (): WindowPolicy => allTurns(),
});
