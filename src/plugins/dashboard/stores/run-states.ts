import type { RunSummary } from "../../../contracts/run-store.js";

/** Returns whether the run needs a running process. A suspended run waits without a process. */
export function needsProcess({ state, exitReason }: RunSummary): boolean {
  return (state === "running" || state === "waiting") && exitReason !== "SUSPENDED";
}

/**
 * Returns whether the run may be removed to free space. Such a run has ended and is not a baseline.
 */
export function isRemovable({ state, baseline }: RunSummary): boolean {
  return state !== "running" && state !== "waiting" && baseline !== true;
}

/** Returns the summary as it is shown after the process of the run has ended. */
export function asInterrupted(run: RunSummary): RunSummary {
  return needsProcess(run) ? { ...run, state: "interrupted" } : run;
}
