/** How turns are cancelled. */
export interface TurnCancellation {
  /** Whether their program ends, so that a journal keeps them for a later one. */
  readonly isShutdown: boolean;
}

/** A turn that runs, or waits for its place. */
export interface RunningTurn {
  cancel(reason: string, o: TurnCancellation): void;
  readonly end: Promise<unknown>;
}

/** The turns of a conversation that have not ended, by thread. */
export class RunningTurns {
  readonly #turns = new Map<string, Set<RunningTurn>>();

  add(threadId: string, turn: RunningTurn): void {
    const turns = this.#turns.get(threadId) ?? new Set();
    this.#turns.set(threadId, turns.add(turn));
    const forget = (): void => {
      turns.delete(turn);
      if (turns.size === 0 && this.#turns.get(threadId) === turns) this.#turns.delete(threadId);
    };
    turn.end.then(forget, forget);
  }

  /** Cancels the turns of a thread and waits until they have ended. */
  async cancel(threadId: string, reason: string): Promise<void> {
    await cancelAll(this.#turns.get(threadId) ?? [], reason, { isShutdown: false });
  }

  /** Cancels all turns at the end of their program, and waits until they have ended. */
  async shutDown(reason: string): Promise<void> {
    await cancelAll(
      [...this.#turns.values()].flatMap((turns) => [...turns]),
      reason,
      { isShutdown: true },
    );
  }
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
