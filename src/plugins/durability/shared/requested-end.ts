import type { ClaimEnd, RunStatus } from "../../../contracts/journal.js";

/** The end of an execution in the form that a journal writes. */
export interface RequestedEnd extends ClaimEnd {
  /** Set only for a cancelled run. */
  readonly cancelReason?: string | undefined;
}

/**
 * Returns whether a run with this status can be continued, so that a requested cancellation still
 * applies to it.
 */
export function canBeCancelled(status: RunStatus): boolean {
  return status === "waiting" || status === "interrupted";
}

/**
 * Returns the end of an execution for which a cancellation was requested with `cancelReason`. An
 * execution that ends `waiting` or `interrupted` is `cancelled` instead, because the request would
 * otherwise be lost. Other ends are unchanged.
 */
export function requestedEnd(end: ClaimEnd, cancelReason: string | undefined): RequestedEnd {
  const { status, waitsFor, result } = end;
  if (cancelReason === undefined) return { status, waitsFor, result };
  if (status === "cancelled" || canBeCancelled(status))
    return { status: "cancelled", result, cancelReason };
  return { status, waitsFor, result };
}
