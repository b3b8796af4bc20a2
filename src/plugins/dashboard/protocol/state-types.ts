import type { Dag } from "../../../contracts/dag.js";
import type { LogEntry, RunSummary, WorkState } from "../../../contracts/run-store.js";

/** The kind of a bar in the timeline. `wait-*`: a person, a rate limit, the delay before another try. */
export type BarKind =
  "task" | "model" | "failed" | "tool" | "delegation" | "wait-review" | "wait-limit" | "wait-retry";

/** A span of time of a task. Times are milliseconds since the start of the run. */
export interface Bar {
  readonly kind: BarKind;
  readonly startMs: number;
  /** Absent while it lasts. */
  readonly endMs?: number | undefined;
}

/** One task of a run, as the page shows it without its texts. */
export interface TaskState {
  readonly id: string;
  /** The role of its agent; `(deterministic)` for a handler. */
  readonly role: string;
  /** `provider:modelId` of its last call. */
  readonly model?: string | undefined;
  /** The task that caused it; the loop that repeats it. */
  readonly parent?: string | undefined;
  /** At most 160 characters where it is shown. */
  readonly description: string;
  /** Ids of the tasks whose outputs it gets. */
  readonly deps: readonly string[];
  /** Ids of the tasks that come before it without giving it their outputs. */
  readonly after: readonly string[];
  /** Place in the plan from the top, from 0. */
  readonly level: number;
  /** As `DagTask.nodeType`; `task` for an ordinary one. */
  readonly type: string;
  readonly phase?: string | undefined;
  readonly critical: boolean;
  readonly state: WorkState;
  /** From 1; 0 before it begins. Of a loop: the iteration. */
  readonly attempt: number;
  /** Milliseconds since the start of the run. */
  readonly startMs?: number | undefined;
  readonly endMs?: number | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Model calls without reported usage. */
  readonly unknownCalls: number;
  readonly cost: number;
  /** Tokens and cost of attempts that failed; a part of the sums. */
  readonly wastedTokens: number;
  readonly wastedCost: number;
  readonly calls: number;
  readonly tools: number;
  /** Empty in runs of more than 2,000 tasks: the bars of their rows are fetched. */
  readonly bars: readonly Bar[];
  /** Code and message of its last failure. */
  readonly error?: { readonly code: string; readonly message: string } | undefined;
}

/** One limit of a budget. */
export interface BudgetState {
  readonly limit: "tokens" | "cost" | "durationMs";
  readonly allowed: number;
  readonly used: number;
  readonly reserved: number;
  readonly exceeded: boolean;
}

/** Sums by one property of the calls. */
export interface CostRow {
  readonly name: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly unknownCalls: number;
  readonly cost: number;
  readonly calls: number;
}

/** A phase that has begun. */
export interface PhaseState {
  readonly name: string;
  /** From 1. */
  readonly attempt: number;
  readonly state: "running" | "done" | "stopped";
  /** Milliseconds since the start of the run; of its first attempt. */
  readonly startMs: number;
  readonly endMs?: number | undefined;
}

/** What a run's log amounts to. The server and the page make it with the same reducer. Texts of prompts and answers are not in it. */
export interface RunView {
  readonly summary: RunSummary;
  /** Number of the last entry that it contains; -1 before the first. */
  readonly n: number;
  /**
   * The plan, once it is known, with the roles that the run chose and the transitions that it made. Texts are cut at 160 characters, and expected outputs
   * are left out.
   */
  readonly dag: Dag | undefined;
  readonly tasks: ReadonlyMap<string, TaskState>;
  readonly budgets: readonly BudgetState[];
  readonly byModel: readonly CostRow[];
  readonly byPurpose: readonly CostRow[];
  readonly byAgent: readonly CostRow[];
  /** Those that have begun, in that order. */
  readonly phases: readonly PhaseState[];
  /** How often the run was begun or resumed; 1 for most. */
  readonly executions: number;
  /** For people: what a suspended run waits for. */
  readonly waitsFor?: string | undefined;
  /** Ids of the reviews that wait. */
  readonly waitingReviews: readonly string[];
  /** Numbers of the entries about failures, refusals, corrections, limits and warnings, in order. */
  readonly errors: readonly number[];
}

/** Makes a {@link RunView} out of entries. Entries of unknown types change nothing but `n`. */
export interface RunReducer {
  /** The state as it is now: it changes with the next entries, and so do the tasks in it. */
  readonly view: RunView;
  /** Entries whose number the state contains already change nothing. */
  apply(entry: LogEntry): void;
  /** The state as data, small and quick to read: see `snapshot.ts`. */
  snapshot(): RunSnapshot;
}

/** A {@link RunView} as JSON: one array per field instead of an object per task. */
export interface RunSnapshot {
  readonly v: 1;
  readonly n: number;
  readonly summary: RunSummary;
  readonly [field: string]: unknown;
}
