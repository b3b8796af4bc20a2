import { setImmediate as otherWork } from "node:timers/promises";
import type { LogEntry } from "../../../contracts/run-store.js";
import type { RunView } from "../protocol/state-types.js";
import type { ReadableRun } from "./board-runs.js";
import { createRunState } from "../protocol/run-state.js";

/** Number of entries after which other work of the process can continue. */
const TURN = 500;

/** A run with all its shown data. */
export interface WholeRun {
  readonly view: Pick<RunView, "summary" | "tasks" | "dag">;
  /** The full entries, in order. */
  readonly entries: readonly LogEntry[];
}

/** Yields the full entries of a run, in order. Yields to other work of the process in between. */
export async function* entriesOf(run: Pick<ReadableRun, "n" | "entry">): AsyncGenerator<LogEntry> {
  const last = run.n; // later entries are not awaited
  for (let n = 0; n <= last; n++) {
    if (n % TURN === TURN - 1) await otherWork();
    yield run.entry(n, "full");
  }
}

/** Reads a run, redacted. */
export async function readWhole(run: ReadableRun): Promise<WholeRun> {
  const state = createRunState({ maxBarTasks: 0 });
  const entries: LogEntry[] = [];
  for await (const entry of entriesOf(run)) {
    entries.push(entry);
    state.apply(entry);
  }
  const { tasks, dag } = state.view;
  return { entries, view: { tasks, dag, summary: run.summary } };
}
