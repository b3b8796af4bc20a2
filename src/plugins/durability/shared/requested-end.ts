import type { ClaimEnd, RunStatus } from "../../../contracts/journal.js";

/** What a journal writes when an execution ends. */
export interface RequestedEnd extends ClaimEnd {
  /** Of a run that is cancelled. */
  readonly cancelReason?: string | undefined;
}

/** Whether a run with this status waits to be continued, so that a requested cancellation still applies to it. */
export function canBeCancelled(status: RunStatus): boolean {
  return status === "waiting" || status === "interrupted";
}

/**
 * The end of an execution for which a cancellation was requested with `cancelReason`. An execution that ends `waiting` or `interrupted` is `cancelled` instead:
 * the request would otherwise be lost. Other ends stay.
 */
export function requestedEnd(end: ClaimEnd, cancelReason: string | undefined): RequestedEnd {
  const { status, waitsFor, result } = end;
  if (cancelReason === undefined) return { status, waitsFor, result };
  if (status === "cancelled" || canBeCancelled(status))
    return { status: "cancelled", result, cancelReason };
  return { status, waitsFor, result };
}
