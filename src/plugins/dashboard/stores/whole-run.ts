import { setImmediate as otherWork } from "node:timers/promises";
import type { LogEntry } from "../../../contracts/run-store.js";
import type { RunView } from "../protocol/state-types.js";
import type { ReadableRun } from "./board-runs.js";
import { createRunState } from "../protocol/run-state.js";

/** Maximum time in milliseconds before other work of the process continues. */
const TURN_MS = 10;

/** A run with all its shown data. */
export interface WholeRun {
  readonly view: Pick<RunView, "summary" | "tasks" | "dag">;
  /** The full entries, in order. */
  readonly entries: readonly LogEntry[];
}

/** Yields the full entries of a run, in order. Other work of the process can run in between. */
export async function* entriesOf(run: Pick<ReadableRun, "n" | "entry">): AsyncGenerator<LogEntry> {
  const last = run.n; // later entries are not awaited
  let turnEndsMs = performance.now() + TURN_MS;
  for (let n = 0; n <= last; n++) {
    if (performance.now() > turnEndsMs) {
      await otherWork();
      turnEndsMs = performance.now() + TURN_MS;
    }
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
