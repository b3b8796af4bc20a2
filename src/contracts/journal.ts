import type { ReviewStore } from "./review.js";
import type { Awaitable } from "./types.js";
import type { SavedUsage } from "./usage.js";

/**
 * The state of a run that is kept. `running`: a process executes it, or did so when it died. `waiting`: it was suspended; `waitsFor` has the reason.
 * `interrupted`: its program ended in order, by disposing the kernel. `completed` includes an early exit. A run can be resumed where it is `waiting`,
 * `interrupted`, `failed` or `cancelled`, and where its process died.
 */
export type RunStatus =
  "running" | "waiting" | "interrupted" | "completed" | "failed" | "cancelled";

/**
 * The kind of a journal entry: the accepted output of a task, the failure of one, the answer to a model call, the start of a tool call with an effect,
 * its end, a write to memory, a decision of a person, a part of a handler, another change outside, the removal of a task's earlier entries.
 */
export type JournalEntryKind =
  "task" | "failed" | "call" | "intent" | "tool" | "memory" | "review" | "step" | "change" | "redo";

/** One step of a run that has ended, or, of kind `intent`, one that has begun. JSON data. */
export interface JournalEntry {
  /** Names the step by its meaning, never by its position. Unique within the run. */
  readonly key: string;
  readonly kind: JournalEntryKind;
  /** `{identity}@{attempt}` of the task that the step belongs to. */
  readonly task: string;
  /** A hash of what was asked, to find out whether the program asks for the same. */
  readonly hash?: string | undefined;
  /**
   * Of kind `task`: this entry holds all that is needed of the calls of its task, so that a journal may leave out the `call`, `tool`, `intent` and `memory`
   * entries of the same task when it hands out the entries of a run. Default false.
   */
  readonly covers?: boolean | undefined;
  /** JSON data. */
  readonly value: unknown;
}

/** An entry as it is read back. */
export interface KeptEntry extends JournalEntry {
  /** When it was written, as an ISO instant. */
  readonly at: string;
  /** The execution that wrote it, from 1. */
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
  /** As `EnsembleOutput.exitReason`. */
  readonly exitReason: string;
  readonly raw: string;
  /** At most the last 1,000; the journal has the entries of all. */
  readonly taskOutputs: readonly {
    readonly taskId: string;
    readonly agentRole: string;
    readonly raw: string;
    readonly parsed?: unknown;
  }[];
  /** The number of outputs before those in `taskOutputs`; absent where there is none. */
  readonly omittedTaskOutputs?: number | undefined;
  /** Totals over all executions; each call is counted once. A count is -1 where a call reported none. */
  readonly metrics: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly totalTokens: number;
    readonly llmCallCount: number;
    readonly toolCallCount: number;
    readonly cost?: number | undefined;
    readonly currency?: string | undefined;
  };
  /** Of the last execution, where it was not the first: what it did not have to do again. */
  readonly saved?: SavedUsage | undefined;
  readonly error?: KeptError | undefined;
}

/** What a run begins with. */
export interface RunStart {
  readonly runId: string;
  /** The name of its ensemble; `ensemble` where it has none. */
  readonly ensemble: string;
  /** As the run sees them, as JSON data. */
  readonly inputs: unknown;
  /** A hash of the inputs. */
  readonly inputsHash: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The run that started this one in a handler or a tool. */
  readonly parentRunId?: string | undefined;
}

/** A run, without its entries. */
export interface KeptRun extends RunStart {
  readonly status: RunStatus;
  /** Of the first execution, as an ISO instant. */
  readonly startedAt: string;
  /** Of the last change of the status, as an ISO instant. */
  readonly updatedAt: string;
  readonly executions: number;
  /** Executions in a row, up to the present one, that ended with their process and left no new entry. */
  readonly fruitlessExecutions: number;
  /** Tasks with an accepted output. */
  readonly finishedTasks: number;
  /** Of a run that is `waiting`: the reason, for a person. */
  readonly waitsFor?: string | undefined;
  /** The process that executes it now, for a person; absent where none shows life. */
  readonly owner?: string | undefined;
  /** The reason given to `cancel`: of a run that is `cancelled`, and where the cancellation has not been carried out. */
  readonly cancelReason?: string | undefined;
  /** Of a run that has ended, and of one that failed or was cancelled. */
  readonly result?: RunResult | undefined;
}

/** Which runs are listed. */
export interface RunFilter {
  readonly status?: RunStatus | undefined;
  readonly ensemble?: string | undefined;
  /** All of them must be equal. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Runs whose last change is before this ISO instant. */
  readonly updatedBefore?: string | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  /** Default 50, at most 1,000. */
  readonly limit?: number | undefined;
}

/** Runs, the newest first. `next` is missing on the last page. */
export interface RunPage {
  readonly runs: readonly KeptRun[];
  readonly next?: string | undefined;
}

/** What a process asks for that wants to execute a run. */
export interface ClaimRequest {
  /** Kept where the run is new; else only `runId` counts. */
  readonly start: RunStart;
  /** Names the process for a person: host and process id, for instance. */
  readonly owner: string;
  /** How long the claim lasts without a renewal, in milliseconds. */
  readonly leaseMs: number;
  readonly signal: AbortSignal;
}

/** The right to write to a run, until another process takes it over. */
export interface Claim {
  readonly runId: string;
  /** Grows with each claim of the run. */
  readonly epoch: number;
  /** The run as it was kept before this claim, with `executions` counting this one, and without the reason of an earlier cancellation that was carried out. */
  readonly record: KeptRun;
  /**
   * In the order in which they were written; empty for a new run. See {@link JournalEntry.covers}. `append`, `renew` and `release` may get a copy of the claim
   * without its entries.
   */
  readonly entries: readonly KeptEntry[];
}

/** How an execution ends. */
export interface ClaimEnd {
  readonly status: Exclude<RunStatus, "running">;
  readonly waitsFor?: string | undefined;
  readonly result?: RunResult | undefined;
}

/** Whether a claim still holds. `cancelReason`: the cancellation of the run was requested. */
export type Renewal =
  | { readonly state: "held"; readonly cancelReason?: string | undefined }
  | { readonly state: "lost" };

/**
 * Where runs are kept so that they outlive their process: append-only, one sequence of entries per run. `journalContract` of `agentensemble/testing` is its
 * suite of tests. All methods reject with JournalError where the storage fails, after what the journal itself tries again.
 */
export interface Journal {
  /** Shown in messages; contains no secret. */
  readonly name: string;
  /** Whether the runs are lost when the process ends. Default false. */
  readonly isVolatile?: boolean | undefined;
  /**
   * Takes the right to execute a run, new or kept, and hands out what is kept of it. Waits for the end of the present claim of the run, at most for the
   * `leaseMs` of the request; the claim of a process that has died ends after its own `leaseMs` at most.
   * @throws RunInUseError where another process executes the run; JournalError for a run that cannot be read; the signal's reason.
   */
  claim(request: ClaimRequest): Promise<Claim>;
  /**
   * Writes an entry. It is on disk when the promise resolves. An entry with a known key is ignored, except that it replaces one of kind `intent`.
   * An entry of kind `redo` removes all earlier entries of its task; their keys are unknown from then on.
   * @throws RunFencedError where the claim was lost; nothing is written then.
   */
  append(claim: Claim, entry: JournalEntry): Promise<void>;
  /** Extends the claim by its `leaseMs`, counted from now. */
  renew(claim: Claim): Promise<Renewal>;
  /** Ends an execution and gives up the claim. Does nothing where the claim was lost. */
  release(claim: Claim, end: ClaimEnd): Promise<void>;

  /** A run, or `undefined` where none is kept. */
  get(runId: string): Promise<KeptRun | undefined>;
  list(filter?: RunFilter): Promise<RunPage>;
  /** All entries of a run, in the order in which they were written; empty for an unknown run. */
  entries(runId: string): Promise<readonly KeptEntry[]>;
  /**
   * Keeps a run that has not been executed yet, with entries of another run. Its status is `waiting`.
   * @throws ValidationError for an id that is taken.
   */
  create(start: RunStart, entries: readonly JournalEntry[], waitsFor: string): Promise<void>;
  /**
   * Adds an entry to a run that no process executes. An entry with a known key is replaced.
   * @throws RunInUseError while a process executes it; ValidationError for an unknown run.
   */
  amend(runId: string, entry: JournalEntry): Promise<void>;
  /**
   * Requests the cancellation of a run. The process that executes it sees the request at its next renewal; a run that no process executes is `cancelled` at
   * once. Where the execution ends `waiting` or `interrupted` instead, the run is `cancelled` as well. `false` for a run that is unknown or has ended.
   */
  cancel(runId: string, reason: string): Promise<boolean>;
  /**
   * Deletes a run with its entries and reviews. `false` for an unknown one.
   * @throws RunInUseError while a process executes it.
   */
  delete(runId: string): Promise<boolean>;
  /** The inbox of the runs that are kept here. Its reviews outlive the process. */
  readonly reviews: ReviewStore;
  /** Writes what waits and frees everything. Calls after it reject. */
  close(): Promise<void>;
}

/** Seals what a journal keeps, and opens it again. Bound to `Tokens.JournalCodec`. */
export interface JournalCodec {
  /** Returns printable text. `runId` must be needed for opening it, so that texts cannot be moved from one run to another. */
  seal(text: string, runId: string): Awaitable<string>;
  /** @throws JournalError where the key is unknown or the text was changed. */
  open(sealed: string, runId: string): Awaitable<string>;
}

/** Runs that are kept, and what can be done with them. */
export interface KeptRuns {
  get(runId: string): Promise<KeptRun | undefined>;
  list(filter?: RunFilter): Promise<RunPage>;
  entries(runId: string): Promise<readonly KeptEntry[]>;
  cancel(runId: string, reason?: string): Promise<boolean>;
  /**
   * Settles a tool call in doubt of a run that no process executes: `result` is what the tool returned, `"again"` repeats the call.
   * @throws ValidationError for an unknown run or a call that is not in doubt; RunInUseError.
   */
  settle(runId: string, key: string, how: { readonly result: string } | "again"): Promise<void>;
  /**
   * Keeps a new run with the entries of this one, without those of the tasks named in `from` and of all tasks that were done after the first of them.
   * Returns its id.
   * @throws ValidationError for an unknown run or task.
   */
  fork(
    runId: string,
    o?: { readonly runId?: string | undefined; readonly from?: string | undefined },
  ): Promise<string>;
  /** `false` for an unknown run. @throws RunInUseError */
  delete(runId: string): Promise<boolean>;
  /** Deletes all runs that match the filter and that no process executes; returns their number. @throws ValidationError for an empty filter. */
  deleteAll(filter: Omit<RunFilter, "after" | "limit">): Promise<number>;
  readonly reviews: Pick<ReviewStore, "pending" | "resolve">;
}

/** The runs that a plugin of this process keeps and can continue. Contributed to `Tokens.KeptRuns`. */
export interface ResumableRuns extends KeptRuns {
  /**
   * Continues a run with its inputs and tags. Rejects with the error of the run.
   * @throws ValidationError for an unknown run or ensemble.
   */
  resume(runId: string): Promise<unknown>;
}
