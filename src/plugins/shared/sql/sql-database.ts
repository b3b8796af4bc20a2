import { AgentEnsembleError } from "../../../contracts/errors.js";

/** What goes into a statement's places. */
export type SqlValue = string | number | readonly string[];

/** A row whose columns were all made texts. */
export type SqlRow = Readonly<Record<string, string | null>>;

/** A PostgreSQL database, in this process or on a server. Methods reject with the errors of its client. Nothing is loaded or connected before the first call. */
export interface SqlDatabase {
  /** How the database is called in messages; tells no secret. */
  readonly name: string;
  query(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Several statements, all or none. */
  transaction(script: string): Promise<void>;
  /** Does `work` while no other session has the lock of this name. Within this process callers are let in one by one already. Rejects with what `late` makes. */
  locked<T>(
    name: string,
    timeoutMs: number,
    work: () => Promise<T>,
    late: (cause: unknown) => Error,
  ): Promise<T>;
  /**
   * Calls `heard` with the text of each notification of a channel, until `ended` is called because the connection broke, or the returned function was called.
   * Missing where no other process can use the database. The connection does not keep the process alive.
   */
  listen?(
    channel: string,
    heard: (text: string) => void,
    ended: () => void,
  ): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** The code of PostgreSQL's own errors, five characters; undefined for others. */
export function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { readonly code?: unknown }).code : undefined; // any error may bear one
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Failures of a connection or a server that go by: PostgreSQL's classes 08, 53 and 57, deadlocks and the like, and a server that is read-only meanwhile. */
const PASSING = /^(?:08|53|57)|^(?:40001|40P01|55P03|25006)$/;

/** Whether the same statement may succeed later: the connection broke, or the server is overloaded, restarts or changes its role. */
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

/** Why a call failed. The error of a host with several addresses has no message, but one error for each address. */
export function databaseReason(error: unknown): string {
  if (error instanceof AggregateError && error.message === "")
    return [...new Set(error.errors.map(databaseReason))].join("; ");
  return error instanceof Error && error.message !== "" ? error.message : String(error);
}
