import { setImmediate as nextTurn } from "node:timers/promises";
/**
 * Keeps long work from blocking the event loop. Ends the work at its time limit or with its signal.
 * Dispose of the object afterwards.
 */
export class WorkLimit {
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  #expired = false;
  #spent = 0;

  constructor(signal: AbortSignal, limitMs: number) {
    this.#signal = signal;
    this.#timer = setTimeout(() => (this.#expired = true), limitMs);
  }

  /** Whether the time limit has passed. */
  get expired(): boolean {
    return this.#expired;
  }

  /**
   * Records finished work in steps of a few nanoseconds. Yields to the event loop at intervals.
   * @throws the signal's reason
   */
  async spend(steps: number): Promise<void> {
    this.#spent += steps;
    if (this.#spent < STEPS_PER_TURN) return;
    this.#spent = 0;
    await nextTurn();
    this.#signal.throwIfAborted();
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }
}

/** Steps between two yields to the event loop. They take a few to some tens of milliseconds. */
const STEPS_PER_TURN = 1_000_000;
