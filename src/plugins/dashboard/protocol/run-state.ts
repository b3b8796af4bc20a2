import type { LogEntry, RunSummary } from "../../../contracts/run-store.js";
import type { RunData, RunHead } from "./run-data.js";
import type { RunReducer, RunSnapshot, RunView } from "./state-types.js";
import { newRunData, shortened, shortValue } from "./run-data.js";
import { applyEntry } from "./run-events.js";
import { dagOfState } from "./run-plan.js";
import {
  AS_IT_IS,
  MAX_BAR_TASKS,
  restoreSnapshot,
  writeSnapshot,
  writeSummary,
} from "./snapshot.js";
import type { ShownTexts } from "./snapshot.js";

export interface RunStateOptions {
  /** The initial state. Default: before the first entry. */
  readonly snapshot?: RunSnapshot | undefined;
  /**
   * Converts all texts of summaries and snapshots when these are created. Set it for a state with
   * unredacted data. The other parts of the view then have the original, uncut texts. Default:
   * texts are cut at 160 characters when they are received.
   */
  readonly shown?: ShownTexts | undefined;
  /** Maximum number of tasks with bars. Default 2,000. */
  readonly maxBarTasks?: number | undefined;
  /** Called with the id of each task that an entry changes. */
  readonly onTask?: ((taskId: string) => void) | undefined;
}

/** An entry whose number is passed separately. */
type UnnumberedEntry = Pick<LogEntry, "type" | "at">;

/** A reducer that accepts the events of a kernel unchanged. */
export interface NumberedReducer extends RunReducer {
  applyAt(n: number, event: UnnumberedEntry): void;
}

const NOT_BEGUN: RunHead = Object.freeze({
  runId: "",
  ensemble: "",
  workflow: "",
  state: "running",
  exitReason: undefined,
  startedAt: "",
  endedAt: undefined,
  inputs: Object.freeze({}),
  tags: Object.freeze({}),
  error: undefined,
});

/**
 * Creates the state of a run from its entries, one by one. The server and the page use the same
 * code, so that their states agree.
 */
export function createRunState(o: RunStateOptions = {}): NumberedReducer {
  const d = newRunData(
    {
      maxBarTasks: o.maxBarTasks ?? MAX_BAR_TASKS,
      touched: o.onTask ?? (() => undefined),
      text: o.shown === undefined ? shortened : (text) => text,
      value: o.shown === undefined ? (value) => shortValue(value) : (value) => value,
    },
    { ...NOT_BEGUN },
  );
  const shown = o.shown ?? AS_IT_IS;
  if (o.snapshot !== undefined) restoreSnapshot(d, o.snapshot);
  const view = new LiveView(d, shown);
  const applyAt = (n: number, event: UnnumberedEntry): void => {
    if (n <= d.n) return;
    d.n = n;
    applyEntry(d, event, timeIn(d, event));
  };
  return {
    view,
    apply: (entry) => applyAt(entry.n, entry),
    applyAt,
    snapshot: () => writeSnapshot(d, shown),
  };
}

/** Returns the milliseconds since the run's start, which is its first entry. */
function timeIn(d: RunData, { at }: UnnumberedEntry): number {
  if (at === d.lastAt) return d.lastMs;
  const time = Date.parse(at);
  if (Number.isNaN(d.startedMs)) {
    d.startedMs = time;
    d.head.startedAt = at;
  }
  d.lastAt = at;
  d.lastMs = time - d.startedMs;
  return d.lastMs;
}

/** The view of the current state. It always has the latest values. */
class LiveView implements RunView {
  readonly #d: RunData;
  readonly #shown: ShownTexts;
  #drawn: { readonly version: number; readonly dag: RunView["dag"] } | undefined;
  #summary: RunSummary | undefined;

  constructor(d: RunData, shown: ShownTexts) {
    this.#d = d;
    this.#shown = shown;
  }

  get summary(): RunSummary {
    if (this.#summary?.n !== this.#d.n) this.#summary = writeSummary(this.#d, this.#shown);
    return this.#summary;
  }

  get n(): number {
    return this.#d.n;
  }

  get dag(): RunView["dag"] {
    const { planVersion: version } = this.#d;
    if (this.#drawn?.version !== version) this.#drawn = { version, dag: dagOfState(this.#d) };
    return this.#drawn.dag;
  }

  get tasks(): RunView["tasks"] {
    return this.#d.tasks;
  }

  get budgets(): RunView["budgets"] {
    return this.#d.budgets;
  }

  get byModel(): RunView["byModel"] {
    return [...this.#d.byModel.values()];
  }

  get byPurpose(): RunView["byPurpose"] {
    return [...this.#d.byPurpose.values()];
  }

  get byAgent(): RunView["byAgent"] {
    return [...this.#d.byAgent.values()];
  }

  get phases(): RunView["phases"] {
    return [...this.#d.phases.values()];
  }

  get executions(): number {
    return this.#d.executions;
  }

  get waitsFor(): string | undefined {
    return this.#d.waitsFor;
  }

  get waitingReviews(): RunView["waitingReviews"] {
    return [...this.#d.reviews.keys()];
  }

  get errors(): RunView["errors"] {
    return this.#d.errors;
  }
}
