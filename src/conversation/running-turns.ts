import type { TurnOwner } from "../plugins/shared/thread-tags.js";

/** Details of a cancellation. */
export interface TurnCancellation {
  /** Whether the program ends. A journal then keeps the turns for a later process. */
  readonly isShutdown: boolean;
}

/** A turn that is in progress, or waits in the queue of its thread. */
export interface RunningTurn {
  cancel(reason: string, o: TurnCancellation): void;
  readonly end: Promise<unknown>;
}

/**
 * The unfinished turns of a conversation, by thread and owner. Before the first turn is stored,
 * only this object contains the owner of the thread.
 */
export class RunningTurns {
  readonly #turns = new Map<string, Set<RunningTurn>>();

  add(thread: TurnOwner, turn: RunningTurn): void {
    const key = ownedThreadKey(thread);
    const turns = this.#turns.get(key) ?? new Set();
    this.#turns.set(key, turns.add(turn));
    const forget = (): void => {
      turns.delete(turn);
      if (turns.size === 0 && this.#turns.get(key) === turns) this.#turns.delete(key);
    };
    turn.end.then(forget, forget);
  }

  /** Cancels the turns of a thread and waits until they have ended. */
  async cancel(thread: TurnOwner, reason: string): Promise<void> {
    await cancelAll(this.#turns.get(ownedThreadKey(thread)) ?? [], reason, { isShutdown: false });
  }

  /** Cancels all turns at the end of the program, and waits until they have ended. */
  async shutDown(reason: string): Promise<void> {
    await cancelAll(
      [...this.#turns.values()].flatMap((turns) => [...turns]),
      reason,
      { isShutdown: true },
    );
  }
}

function ownedThreadKey({ threadId, owner }: TurnOwner): string {
  return owner === undefined ? threadId : `${threadId}\n${owner}`; // ids have no line feed
}

async function cancelAll(
  turns: Iterable<RunningTurn>,
  reason: string,
  o: TurnCancellation,
): Promise<void> {
  const all = [...turns];
  for (const turn of all) turn.cancel(reason, o);
  await Promise.allSettled(all.map(({ end }) => end));
}
