import type { ErrorDetails } from "./errors.js";
import { AgentEnsembleError, ValidationError } from "./errors.js";
import { messageOf } from "../util/errors.js";

/** A memory store could not complete an operation. `cause` is the error of the store. */
export class MemoryStoreError extends AgentEnsembleError {
  readonly operation: string;
  readonly scope: string | undefined;
  constructor(
    message: string,
    context: { readonly operation: string; readonly scope?: string | undefined },
    details: ErrorDetails = {},
  ) {
    super("AE_MEMORY_STORE", message, details);
    this.operation = context.operation;
    this.scope = context.scope;
  }
}

/** Returns the error of a step that needs a memory store in a run without a memory store. */
export function noMemoryStore(): ValidationError {
  return new ValidationError("There is no memory store", {
    hint: "Give the ensemble a memoryStore, MemoryStore.inMemory() for instance.",
  });
}

/**
 * Returns the error to throw for an error of a memory store. Returns errors of the framework
 * unchanged. Returns any other error as the cause of a MemoryStoreError whose message begins with
 * `what`.
 */
export function storeFailure(
  error: unknown,
  what: string,
  operation: string,
  scope: string,
): AgentEnsembleError {
  if (AgentEnsembleError.isInstance(error)) return error;
  return new MemoryStoreError(
    `${what}: ${messageOf(error)}`,
    { operation, scope },
    { cause: error },
  );
}

/** Another writer has changed the scope since its version was read. This write was not executed. */
export class MemoryConflictError extends AgentEnsembleError {
  readonly scope: string;
  readonly expectedVersion: number;
  constructor(scope: string, expectedVersion: number, details: ErrorDetails = {}) {
    super(
      "AE_MEMORY_CONFLICT",
      `Version conflict in scope '${scope}': expected version ${expectedVersion}`,
      details,
    );
    this.scope = scope;
    this.expectedVersion = expectedVersion;
  }
}

/** The dashboard's store of runs could not be read or written. `cause` is the reason. */
export class RunStoreError extends AgentEnsembleError {
  /** Whether the stored run is read-only. A repetition of the operation then also fails. */
  readonly isReadOnly: boolean;
  constructor(
    message: string,
    { isReadOnly = false, ...details }: ErrorDetails & { readonly isReadOnly?: boolean } = {},
  ) {
    super("AE_RUN_STORE", message, details);
    this.isReadOnly = isReadOnly;
  }
}

/**
 * The budget of a run is used up, or a call would exceed it. `limit` is the name of the option:
 * `maxTokens`, `maxCost` or `maxDurationMs`.
 */
export class BudgetExceededError extends AgentEnsembleError {
  readonly limit: string;
  constructor(message: string, limit: string, details: ErrorDetails = {}) {
    super("AE_BUDGET_EXCEEDED", message, details);
    this.limit = limit;
  }
}

/**
 * A store of limits for several processes, `Tokens.RateWindow` or `Tokens.BudgetAccounts`, failed
 * or did not answer in time. `cause` is the store's error.
 */
export class LimitStoreError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_LIMIT_STORE", message, {
      hint: "Check that the store can be reached. Without it no limit is known, so no model is called.",
      ...details,
    });
  }
}

/** A review was not answered in time, and its `onTimeout` is FAIL. */
export class ReviewTimeoutError extends AgentEnsembleError {
  readonly timeoutMs: number;
  constructor(timeoutMs: number, details: ErrorDetails = {}) {
    super(
      "AE_REVIEW_TIMEOUT",
      `Review gate timed out after ${timeoutMs / 1000}s (onTimeout: FAIL)`,
      details,
    );
    this.timeoutMs = timeoutMs;
  }
}

/**
 * A review is required, but no answer is possible. The run has no review handler, and its review
 * store is not watched.
 */
export class ReviewUnavailableError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_REVIEW_UNAVAILABLE", message, {
      hint: "Give the ensemble a reviewHandler, ReviewHandler.console() for instance, or let something answer from its review store.",
      ...details,
    });
  }
}

/**
 * A review handler threw, or returned an invalid decision. The review does not count as approved.
 */
export class ReviewError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_REVIEW", message, details);
  }
}

/** A guard refused access to a path, an address or a command. */
export class AccessDeniedError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_ACCESS_DENIED", message, details);
  }
}

/**
 * A file of a trace, a recording or a memory has an invalid format. `line` is the number of the
 * invalid line, from 1.
 */
export class FileFormatError extends AgentEnsembleError {
  readonly path: string;
  readonly line: number | undefined;
  constructor(
    message: string,
    context: { readonly path: string; readonly line?: number | undefined },
    details: ErrorDetails = {},
  ) {
    super("AE_FILE_FORMAT", message, details);
    this.path = context.path;
    this.line = context.line;
  }
}

/**
 * A replay received a request that was not recorded. The message shows the nearest recorded request
 * and the differences.
 */
export class RecordingMismatchError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_RECORDING_MISMATCH", message, details);
  }
}

/**
 * An entry of a durable journal does not match the program that resumes the run. The message names
 * the entry and shows both versions. Thrown by plugins with a journal. The replay of a recording
 * throws `RecordingMismatchError` instead.
 */
export class JournalMismatchError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_JOURNAL_MISMATCH", message, details);
  }
}

/** An MCP server could not be started, closed the connection, or violated the protocol. */
export class McpError extends AgentEnsembleError {
  readonly server: string;
  constructor(message: string, server: string, details: ErrorDetails = {}) {
    super("AE_MCP", message, details);
    this.server = server;
  }
}

/** The dashboard could not listen: its port is in use, or the dashboard has been closed. */
export class DashboardError extends AgentEnsembleError {
  constructor(message: string, details: ErrorDetails = {}) {
    super("AE_DASHBOARD", message, details);
  }
}

/** A command could not be started: its program or its folder is missing, or access is denied. */
export class CommandError extends AgentEnsembleError {
  /** The program, without its arguments. */
  readonly program: string;
  constructor(message: string, program: string, details: ErrorDetails = {}) {
    super("AE_COMMAND", message, details);
    this.program = program;
  }
}

/**
 * The reason for a failed fetch. `connection`: no connection. `too_large`: too much data.
 * `bad_response`: an invalid response. `content_type`: a response of the wrong type. `redirect`:
 * too many redirects.
 */
export type FetchFailure =
  "timeout" | "connection" | "too_large" | "bad_response" | "content_type" | "redirect";

/**
 * An allowed HTTP request failed. A response with an error status is returned and is not a failure.
 */
export class FetchError extends AgentEnsembleError {
  readonly reason: FetchFailure;
  constructor(
    message: string,
    context: { readonly reason: FetchFailure },
    details: ErrorDetails = {},
  ) {
    super("AE_FETCH", message, details);
    this.reason = context.reason;
  }
}

/** The reason why a file in a folder could not be read or written. */
export type FileAccessReason =
  "not_found" | "not_a_file" | "not_a_directory" | "not_text" | "too_large" | "changed" | "io";

/**
 * An allowed access to a file failed. `reason` is the kind of failure, for example `not_found` or
 * `too_large`. `io`: the operating system refused the access.
 */
export class FileAccessError extends AgentEnsembleError {
  /** The path of the request. */
  readonly path: string;
  readonly reason: FileAccessReason;
  constructor(
    message: string,
    context: { readonly path: string; readonly reason: FileAccessReason },
    details: ErrorDetails = {},
  ) {
    super("AE_FILE_ACCESS", message, details);
    this.path = context.path;
    this.reason = context.reason;
  }
}
