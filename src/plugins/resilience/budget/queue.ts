/** A call that waits until others have settled. */
export interface QueuedCall {
  readonly accounts: readonly CallQueue[];
  /** Decides again. Returns whether the call has left the queue. */
  step(): boolean;
  /** Removes the call, because the reservations are no longer known. */
  fail(error: unknown): void;
}

/** An account with its waiting calls, in the order of their arrival. */
export interface CallQueue {
  readonly waiting: ReadonlySet<QueuedCall>;
}

/** Releases the calls that can proceed, in the order of their arrival. */
export function advance(accounts: Iterable<CallQueue>): void {
  const changed = new Set(accounts);
  for (const account of changed) {
    changed.delete(account); // the account is handled again when one of its calls leaves
    for (const waiting of account.waiting)
      if (waiting.step()) for (const other of waiting.accounts) changed.add(other);
  }
}
