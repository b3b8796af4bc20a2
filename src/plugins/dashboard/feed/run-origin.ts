import type { RunSummary } from "../../../contracts/run-store.js";

/** The process of a run of another process. It changes with the connection of the process. */
export interface RunOrigin {
  readonly process: string;
  isAway: boolean;
  /** Whether the process has been disconnected for so long that its runs count as interrupted. */
  isLost: boolean;
}

/** Returns the summary of a run of another process. */
export function originSummary(origin: RunOrigin, summary: RunSummary): RunSummary {
  const isOpen = summary.state === "running" || summary.state === "waiting";
  const isInterrupted = origin.isLost && isOpen && summary.exitReason !== "SUSPENDED";
  return {
    ...summary,
    process: origin.process,
    ...(origin.isAway && { isAway: true }),
    ...(isInterrupted && { state: "interrupted" }),
  };
}
