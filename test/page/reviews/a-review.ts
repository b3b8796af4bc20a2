import type { StoredReview } from "../../../src/contracts/review.js";

/** A review of an output, with some changed fields. */
export function review(more: Partial<StoredReview>): StoredReview {
  return {
    reviewId: "r1",
    runId: "run",
    taskId: "t",
    agentRole: "Clerk",
    taskDescription: "Settle the case",
    taskOutput: "Two words.",
    timing: "AFTER_EXECUTION",
    requestedAt: "2026-01-01T00:00:00.000Z",
    timeoutMs: 300_000,
    onTimeout: "EXIT_EARLY",
    ...more,
  };
}
