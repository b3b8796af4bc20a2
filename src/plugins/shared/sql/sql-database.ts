import { AgentEnsembleError } from "../../../contracts/errors.js";

/** A value of a parameter of a statement. */
export type SqlValue = string | number | readonly string[];

/** A row whose columns are all texts. */
export type SqlRow = Readonly<Record<string, string | null>>;

/**
 * A PostgreSQL database, in this process or on a server. Methods reject with the errors of its
 * client. The first call loads the client and connects.
 */
export interface SqlDatabase {
  /** The name of the database in messages; contains no secret. */
  readonly name: string;
  query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Executes several statements atomically. */
  transaction(script: string): Promise<void>;
  /**
   * Executes `work` while no other session has the lock of this name. The implementation need not
   * serialize calls of this process. Rejects with the error of `late` after the time limit.
   */
  locked<T>(
    name: string,
    timeoutMs: number,
    work: () => Promise<T>,
    late: (cause: unknown) => Error,
  ): Promise<T>;
  /**
   * Calls `heard` with the text of each notification of a channel. Calls `ended` when the
   * connection breaks. The returned function ends the subscription. Absent if no other process can
   * use the database. The connection does not keep the process alive.
   */
  listen?(
    channel: string,
    heard: (text: string) => void,
    ended: () => void,
  ): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Returns the code of an error of PostgreSQL, five characters. `undefined` for other errors. */
export function sqlState(error: unknown): string | undefined {
  // any error may have a code
  const code = error instanceof Error ? (error as { readonly code?: unknown }).code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/**
 * Codes of transient failures: PostgreSQL's classes 08, 53 and 57, deadlocks, and a server that is
 * temporarily read-only.
 */
const PASSING = /^(?:08|53|57)|^(?:40001|40P01|55P03|25006)$/;

/**
 * Whether the same statement may succeed later: the connection broke, or the server is overloaded,
 * restarts or changes its role.
 */
export function isPassing(error: unknown): boolean {
  if (AgentEnsembleError.isInstance(error) || !(error instanceof Error)) return false;
  const state = sqlState(error);
  if (state !== undefined && state !== "EPIPE") return PASSING.test(state);
  return !(
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  );
}

/**
 * Returns the reason of a failed call. An error of a host with several addresses has no message,
 * but one error for each address.
 */
export function databaseReason(error: unknown): string {
  if (error instanceof AggregateError && error.message === "")
    return [...new Set(error.errors.map(databaseReason))].join("; ");
  return error instanceof Error && error.message !== "" ? error.message : String(error);
}
