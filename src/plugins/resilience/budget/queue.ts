/** A call that waits until others have settled. */
export interface QueuedCall {
  readonly accounts: readonly CallQueue[];
  /** Decides again; returns whether it has left. */
  step(): boolean;
  /** Leaves: what is reserved is not known any more. */
  fail(error: unknown): void;
}

/** An account with the calls that wait for it, in the order in which they came. */
export interface CallQueue {
  readonly waiting: ReadonlySet<QueuedCall>;
}

/** Lets those go on who can, in the order in which they came. */
export function advance(accounts: Iterable<CallQueue>): void {
  const changed = new Set(accounts);
  for (const account of changed) {
    changed.delete(account); // comes back, and is looked at again, when one of its calls leaves
    for (const waiting of account.waiting)
      if (waiting.step()) for (const other of waiting.accounts) changed.add(other);
  }
}
