import { setImmediate as otherWork } from "node:timers/promises";
import type { LogEntry } from "../../../contracts/run-store.js";
import type { RunView } from "../protocol/state-types.js";
import type { ReadableRun } from "./board-runs.js";
import { createRunState } from "../protocol/run-state.js";

/** Entries after which other work of the process gets its turn. */
const TURN = 500;

/** A run with all that is shown of it. */
export interface WholeRun {
  readonly view: Pick<RunView, "summary" | "tasks" | "dag">;
  /** The full entries, in order. */
  readonly entries: readonly LogEntry[];
}

/** The full entries of a run, in order. Other work of the process gets its turn in between. */
export async function* entriesOf(run: Pick<ReadableRun, "n" | "entry">): AsyncGenerator<LogEntry> {
  const last = run.n; // what comes later is not waited for
  for (let n = 0; n <= last; n++) {
    if (n % TURN === TURN - 1) await otherWork();
    yield run.entry(n, "full");
  }
}

/** Reads a run, without secrets. */
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
