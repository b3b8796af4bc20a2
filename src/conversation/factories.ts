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

/** Stores threads; see the contract. */
export type ConversationStore = Store;

/** The stores of threads, for the option `store` of a conversation. */
export const ConversationStore = Object.freeze({
  /**
   * Keeps threads for the lifetime of the object, within limits.
   * @throws ValidationError for invalid options.
   */
  inMemory: (options?: InMemoryThreadsOptions): ConversationStore => new InMemoryThreads(options),
  /**
   * Stores threads permanently in a folder with one file of JSON lines for each thread, created at
   * the first change. Several processes may use it. A relative path is resolved against the folder
   * that is current at this call.
   * @throws ValidationError for a blank folder.
   */
  file: (folder: string): ConversationStore => new FileThreads(folder),
  /**
   * Stores threads permanently in PostgreSQL, on a server or in this process. Loads and connects
   * nothing before the first call; the caller must close it.
   * @throws ValidationError for invalid options.
   */
  sql: (options: SqlThreadsOptions): ConversationStore => sqlThreads(options),
});

/** Selects the messages of a thread for a model; see the contract. */
export type WindowPolicy = Policy;

/** The window policies, for the option `window` of a conversation. All throw ValidationError for options out of range. */
export const WindowPolicy = Object.freeze({
  /** The last `n` turns. The default of conversations is 50. */
  lastTurns: (n: number, options?: LastTurnsOptions): WindowPolicy => lastTurns(n, options),
  /** The last turns that fit into `max` tokens; at least one. */
  tokens: (max: number): WindowPolicy => tokenBudget(max),
  /** A summary of the turns that do not fit, then the other turns. All turns stay in the store. */
  summary: (options: SummaryWindowOptions): WindowPolicy => summarized(options),
  /** All turns. */
  all: (): WindowPolicy => allTurns(),
});
