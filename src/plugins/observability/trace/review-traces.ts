import type { ReviewRecord, ReviewTrace } from "../../../contracts/trace.js";
import type { TraceKeeper } from "./keeper.js";

/** Returns the questions to people in a run, and their answers. */
export function reviewTraces(
  reviews: readonly ReviewRecord[],
  clock: (ms: number) => Date,
  keeper: TraceKeeper,
): readonly ReviewTrace[] {
  const kept = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : keeper.text(text);
  return reviews.map(({ request, startedMs, endedMs, decision, timedOut, by, comment }) => {
    const asked = new Date(request.requestedAt);
    const resolvedAt = clock(endedMs);
    return {
      reviewId: request.reviewId,
      taskId: request.taskId,
      agentRole: request.agentRole,
      timing: request.timing,
      description: keeper.text(request.taskDescription),
      toolName: request.toolName,
      // the wall clock and the monotonic clock may differ
      requestedAt: asked < resolvedAt ? asked : resolvedAt,
      resolvedAt,
      durationMs: Math.max(0, endedMs - startedMs),
      decision,
      timedOut,
      by: kept(by),
      comment: kept(comment),
    };
  });
}
