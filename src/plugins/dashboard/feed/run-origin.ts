import type { RunSummary } from "../../../contracts/run-store.js";

/** The process of a run, if it is another one. It changes with its connection. */
export interface RunOrigin {
  readonly process: string;
  isAway: boolean;
  /** Whether it has been disconnected for so long that its runs count as interrupted. */
  isLost: boolean;
}

/** The summary of a run of another process. */
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
