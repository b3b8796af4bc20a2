import type { ReviewStore } from "./review.js";
import type { Awaitable } from "./types.js";
import type { SavedUsage } from "./usage.js";

/**
 * The status of a run in a journal. `running`: a process is executing the run, or its process has
 * ended without a result. `waiting`: the run was suspended; `waitsFor` contains the reason.
 * `interrupted`: the program disposed of the kernel. `completed` includes an early exit. A run can
 * be resumed if it is `waiting`, `interrupted`, `failed` or `cancelled`. A `running` run can be
 * resumed if its process has ended.
 */
export type RunStatus =
  "running" | "waiting" | "interrupted" | "completed" | "failed" | "cancelled";

/**
 * The kind of a journal entry.
 * `task`: the accepted output of a task. `failed`: the failure of a task. `call`: the response to a
 * model call. `intent`: the start of a tool call with an effect. `tool`: the end of a tool call.
 * `memory`: a memory write. `review`: a decision on a review. `step`: a step of a handler.
 * `change`: another change outside. `redo`: the removal of earlier entries of a task.
 */
export type JournalEntryKind =
  "task" | "failed" | "call" | "intent" | "tool" | "memory" | "review" | "step" | "change" | "redo";

/** A finished step of a run, or, with kind `intent`, a started step. JSON data. */
export interface JournalEntry {
  /** Identifies the step by its meaning, never by its position. Unique within the run. */
  readonly key: string;
  readonly kind: JournalEntryKind;
  /** The task to which the step belongs, as `{identity}@{attempt}`. */
  readonly task: string;
  /** A hash of the request, used to detect a changed program. Default: none. */
  readonly hash?: string | undefined;
  /**
   * For kind `task`: whether this entry replaces the `call`, `tool`, `intent` and `memory` entries
   * of its task. A journal may then omit the replaced entries when it returns the entries of a run.
   * Default false.
   */
  readonly covers?: boolean | undefined;
  /** JSON data. */
  readonly value: unknown;
}

/** An entry as stored in a journal. */
export interface KeptEntry extends JournalEntry {
  /** The time of the write, as an ISO instant. */
  readonly at: string;
  /** The number of the execution that wrote the entry, from 1. */
  readonly execution: number;
}

/** An error, as data. */
export interface KeptError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** The output of a run, as data. */
export interface RunResult {
  readonly runId: string;
  /** The exit reason, as in `EnsembleOutput.exitReason`. */
  readonly exitReason: string;
  readonly raw: string;
  /** The outputs of tasks, at most the last 1,000. The journal has entries for all of them. */
  readonly taskOutputs: readonly {
    readonly taskId: string;
    readonly agentRole: string;
    readonly raw: string;
    readonly parsed?: unknown;
  }[];
  /** The number of earlier outputs that `taskOutputs` omits. Absent if it omits none. */
  readonly omittedTaskOutputs?: number | undefined;
  /**
   * Totals over all executions. Each call counts once. A count is -1 if a call reported no usage.
   */
  readonly metrics: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly totalTokens: number;
    readonly llmCallCount: number;
    readonly toolCallCount: number;
    readonly cost?: number | undefined;
    readonly currency?: string | undefined;
  };
  /** The usage that the last execution saved. Absent after a first execution. */
  readonly saved?: SavedUsage | undefined;
  readonly error?: KeptError | undefined;
}

/** The start data of a run. */
export interface RunStart {
  readonly runId: string;
  /** The name of its ensemble. `ensemble` if it has no name. */
  readonly ensemble: string;
  /** The inputs of the run as JSON data. */
  readonly inputs: unknown;
  /** A hash of the inputs. */
  readonly inputsHash: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The id of the run whose handler or tool started this run. */
  readonly parentRunId?: string | undefined;
}

/** A run, without its entries. */
export interface KeptRun extends RunStart {
  readonly status: RunStatus;
  /** The start of the first execution as an ISO instant. */
  readonly startedAt: string;
  /** The time of the last change of the status as an ISO instant. */
  readonly updatedAt: string;
  readonly executions: number;
  /**
   * The number of consecutive executions, up to the current one, that ended with their process and
   * added no new entry.
   */
  readonly fruitlessExecutions: number;
  /** The number of tasks with an accepted output. */
  readonly finishedTasks: number;
  /** The reason of status `waiting`, as text for people. */
  readonly waitsFor?: string | undefined;
  /**
   * The process that executes the run, as text for people. Absent if no process renews the lease.
   */
  readonly owner?: string | undefined;
  /** The reason passed to `cancel`, for a `cancelled` run and for a pending cancellation. */
  readonly cancelReason?: string | undefined;
  /** The result of an ended run, including a failed or cancelled run. */
  readonly result?: RunResult | undefined;
}

/** A filter of a list of runs. */
export interface RunFilter {
  readonly status?: RunStatus | undefined;
  readonly ensemble?: string | undefined;
  /** Selects runs that have all of these tags. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Selects runs whose last change is before this ISO instant. */
  readonly updatedBefore?: string | undefined;
  /** The `next` of the previous page. */
  readonly after?: string | undefined;
  /** Limit of runs per page. Default 50, at most 1,000. */
  readonly limit?: number | undefined;
}

/** A page of a list of runs, newest first. `next` is missing on the last page. */
export interface RunPage {
  readonly runs: readonly KeptRun[];
  readonly next?: string | undefined;
}

/** The request of a process to execute a run. */
export interface ClaimRequest {
  /** The data that is stored for a new run. For an existing run, only `runId` is used. */
  readonly start: RunStart;
  /** The name of the process as text for people, for example host and process id. */
  readonly owner: string;
  /** The time after which the claim expires without a renewal, in milliseconds. */
  readonly leaseMs: number;
  readonly signal: AbortSignal;
}

/** The right to write to a run, until another process takes over the run. */
export interface Claim {
  readonly runId: string;
  /** Increases with each claim of the run. */
  readonly epoch: number;
  /**
   * The run as stored before this claim. `executions` includes this execution. The reason of a
   * completed cancellation is removed.
   */
  readonly record: KeptRun;
  /**
   * The entries in the order of writing. Empty for a new run. See {@link JournalEntry.covers}.
   * `append`, `renew` and `release` also accept a copy of the claim without entries.
   */
  readonly entries: readonly KeptEntry[];
}

/** The end of an execution. */
export interface ClaimEnd {
  readonly status: Exclude<RunStatus, "running">;
  readonly waitsFor?: string | undefined;
  readonly result?: RunResult | undefined;
}

/**
 * The result of a renewal: whether the claim is still valid. `cancelReason` is set if the
 * cancellation of the run was requested.
 */
export type Renewal =
  | { readonly state: "held"; readonly cancelReason?: string | undefined }
  | { readonly state: "lost" };

/**
 * Stores runs. Stored runs can continue after the end of their process. Append-only, with one
 * sequence of entries per run. Check an implementation with `journalContract` of
 * `agentensemble/testing`. All methods reject with JournalError if the storage fails in all
 * attempts of the journal.
 */
export interface Journal {
  /** The name in messages, without secrets. */
  readonly name: string;
  /** Whether the runs are lost when the process ends. Default false. */
  readonly isVolatile?: boolean | undefined;
  /**
   * Claims the right to execute a new or stored run. Returns the stored run and its entries. If
   * another claim exists, waits for its end, at most for the `leaseMs` of the request. The claim of
   * a process that has ended expires within its `leaseMs`.
   *
   * @throws RunInUseError if another process is executing the run; JournalError for an unreadable
   * run; the signal's reason.
   */
  claim(request: ClaimRequest): Promise<Claim>;
  /**
   * Writes an entry. The entry is on disk when the promise resolves. An entry with a known key is
   * ignored. If the known entry has kind `intent`, the new entry replaces it. An entry of kind
   * `redo` removes all earlier entries of its task, including their keys.
   *
   * @throws RunFencedError if the claim was lost. Nothing is written then.
   */
  append(claim: Claim, entry: JournalEntry): Promise<void>;
  /** Extends the claim by its `leaseMs`, counted from now. */
  renew(claim: Claim): Promise<Renewal>;
  /** Ends an execution and releases the claim. Does nothing if the claim was lost. */
  release(claim: Claim, end: ClaimEnd): Promise<void>;

  /** Returns a run, or `undefined` for an unknown id. */
  get(runId: string): Promise<KeptRun | undefined>;
  list(filter?: RunFilter): Promise<RunPage>;
  /**
   * Returns all entries of a run in the order of writing. Returns an empty list for an unknown run.
   */
  entries(runId: string): Promise<readonly KeptEntry[]>;
  /**
   * Stores a run with entries of another run, without executing it. Its status is `waiting`.
   * @throws ValidationError for an existing id.
   */
  create(start: RunStart, entries: readonly JournalEntry[], waitsFor: string): Promise<void>;
  /**
   * Adds an entry to a run that no process is executing. Replaces an entry with the same key.
   *
   * @throws RunInUseError while a process is executing the run; ValidationError for an unknown run.
   */
  amend(runId: string, entry: JournalEntry): Promise<void>;
  /**
   * Requests the cancellation of a run. The executing process receives the request at its next
   * renewal. A run that no process is executing becomes `cancelled` immediately. A run whose
   * execution ends as `waiting` or `interrupted` before the next renewal also becomes `cancelled`.
   * Returns false for an unknown or ended run.
   */
  cancel(runId: string, reason: string): Promise<boolean>;
  /**
   * Deletes a run with its entries and reviews. Returns false for an unknown run.
   * @throws RunInUseError while a process is executing the run.
   */
  delete(runId: string): Promise<boolean>;
  /** The store of the reviews of these runs. The reviews are kept after the end of the process. */
  readonly reviews: ReviewStore;
  /** Writes pending entries and releases all resources. Later calls reject. */
  close(): Promise<void>;
}

/** Encrypts and decrypts the texts of a journal. Bound to `Tokens.JournalCodec`. */
export interface JournalCodec {
  /**
   * Encrypts a text. The result is printable. It can be decrypted only with the same `runId`: a
   * text can't be moved to another run.
   */
  seal(text: string, runId: string): Awaitable<string>;
  /** Decrypts a text. @throws JournalError if the key is unknown or the text was changed. */
  open(sealed: string, runId: string): Awaitable<string>;
}

/** A filter of {@link KeptRuns}. */
export interface KeptRunFilter extends RunFilter {
  /**
   * `true` selects the runs whose last five executions ended with their process and added no new
   * entry. No plugin continues such runs automatically. A page may contain fewer runs than `limit`.
   */
  readonly poisoned?: boolean | undefined;
}

/** Lists, changes and deletes stored runs. */
export interface KeptRuns {
  get(runId: string): Promise<KeptRun | undefined>;
  list(filter?: KeptRunFilter): Promise<RunPage>;
  entries(runId: string): Promise<readonly KeptEntry[]>;
  cancel(runId: string, reason?: string): Promise<boolean>;
  /**
   * Settles a tool call in doubt, in a run that no process is executing. `result` is the result of
   * the tool. `"again"` repeats the call.
   *
   * @throws ValidationError for an unknown run or a call that is not in doubt; RunInUseError.
   */
  settle(runId: string, key: string, how: { readonly result: string } | "again"): Promise<void>;
  /**
   * Stores a new run with the entries of this run, and returns the id of the new run. Omits the
   * entries of the task `from` and its delegated tasks, and of all tasks that did not end before the
   * first of these. Default of `from`: omits none.
   * @throws ValidationError for an unknown run or task.
   */
  fork(
    runId: string,
    o?: { readonly runId?: string | undefined; readonly from?: string | undefined },
  ): Promise<string>;
  /** Deletes a run. Returns false for an unknown run. @throws RunInUseError */
  delete(runId: string): Promise<boolean>;
  /**
   * Deletes all runs that match the filter and that no process is executing. Returns the number of
   * deleted runs.
   * @throws ValidationError for an empty filter.
   */
  deleteAll(filter: Omit<KeptRunFilter, "after" | "limit">): Promise<number>;
  readonly reviews: Pick<ReviewStore, "pending" | "resolve">;
}

/**
 * The runs that a plugin of this process stores and can continue. Contributed to `Tokens.KeptRuns`.
 */
export interface ResumableRuns extends KeptRuns {
  /**
   * Continues a run with its stored inputs and tags. Rejects with the error of the run.
   * @throws ValidationError for an unknown run or ensemble.
   */
  resume(runId: string): Promise<unknown>;
}
