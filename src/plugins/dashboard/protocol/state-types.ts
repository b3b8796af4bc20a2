import type { Dag } from "../../../contracts/dag.js";
import type { LogEntry, RunSummary, WorkState } from "../../../contracts/run-store.js";

/**
 * The kind of a bar in the timeline. `wait-*`: the task waits for a person, for a rate limit, or
 * before another attempt.
 */
export type BarKind =
  "task" | "model" | "failed" | "tool" | "delegation" | "wait-review" | "wait-limit" | "wait-retry";

/** A period of a task. Times are milliseconds since the start of the run. */
export interface Bar {
  readonly kind: BarKind;
  readonly startMs: number;
  /** Absent while the bar is open. */
  readonly endMs?: number | undefined;
}

/** One task of a run in the form of the page, without texts. */
export interface TaskState {
  readonly id: string;
  /** The role of the agent. `(deterministic)` for a handler. */
  readonly role: string;
  /** `provider:modelId` of the last call. */
  readonly model?: string | undefined;
  /** The task that started this task, or the loop that repeats it. */
  readonly parent?: string | undefined;
  /** The description. At most 160 characters where it is shown. */
  readonly description: string;
  /** Ids of the tasks whose outputs the task receives. */
  readonly deps: readonly string[];
  /** Ids of the tasks that precede the task without passing their outputs. */
  readonly after: readonly string[];
  /** Level in the plan, from 0 at the top. */
  readonly level: number;
  /** The type as in `DagTask.nodeType`. `task` for an ordinary task. */
  readonly type: string;
  readonly phase?: string | undefined;
  readonly critical: boolean;
  readonly state: WorkState;
  /** The attempt, from 1. 0 before the task begins. For a loop, the iteration. */
  readonly attempt: number;
  /** Milliseconds since the start of the run. */
  readonly startMs?: number | undefined;
  readonly endMs?: number | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Number of model calls without reported usage. */
  readonly unknownCalls: number;
  readonly cost: number;
  /** Tokens and cost of failed attempts. The sums include them. */
  readonly wastedTokens: number;
  readonly wastedCost: number;
  readonly calls: number;
  readonly tools: number;
  /**
   * The bars. Empty in runs of more than 2,000 tasks, because the page fetches the bars of visible
   * rows.
   */
  readonly bars: readonly Bar[];
  /** Code and message of the last failure. */
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
  /** The attempt, from 1. */
  readonly attempt: number;
  readonly state: "running" | "done" | "stopped";
  /** Start of the first attempt in milliseconds since the start of the run. */
  readonly startMs: number;
  readonly endMs?: number | undefined;
}

/**
 * The state that results from the log of a run. The server and the page create it with the same
 * reducer. It has no texts of prompts and answers.
 */
export interface RunView {
  readonly summary: RunSummary;
  /** Number of the last entry that the state contains. -1 before the first entry. */
  readonly n: number;
  /**
   * The plan, once it is known, with the selected roles and the transitions of the run. Texts are
   * cut at 160 characters, and expected outputs are omitted.
   */
  readonly dag: Dag | undefined;
  readonly tasks: ReadonlyMap<string, TaskState>;
  readonly budgets: readonly BudgetState[];
  readonly byModel: readonly CostRow[];
  readonly byPurpose: readonly CostRow[];
  readonly byAgent: readonly CostRow[];
  /** The phases that have begun, in the order of their start. */
  readonly phases: readonly PhaseState[];
  /** Number of starts and resumptions of the run. Usually 1. */
  readonly executions: number;
  /** The reason why a suspended run waits, as a text for people. */
  readonly waitsFor?: string | undefined;
  /** Ids of the waiting reviews. */
  readonly waitingReviews: readonly string[];
  /**
   * Numbers of the entries about failures, refusals, corrections, limits and warnings, in order.
   */
  readonly errors: readonly number[];
}

/** Creates a {@link RunView} from entries. Entries of unknown types change only `n`. */
export interface RunReducer {
  /** The current state. The next entries change it and its tasks. */
  readonly view: RunView;
  /** Applies an entry. An entry that the state already contains changes nothing. */
  apply(entry: LogEntry): void;
  /** Returns the state as data that is small and quick to parse. See `snapshot.ts`. */
  snapshot(): RunSnapshot;
}

/** A {@link RunView} as JSON. It has one array per field instead of an object per task. */
export interface RunSnapshot {
  readonly v: 1;
  readonly n: number;
  readonly summary: RunSummary;
  readonly [field: string]: unknown;
}
