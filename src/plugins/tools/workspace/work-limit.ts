import { setImmediate as nextTurn } from "node:timers/promises";
/** Keeps long work from holding up everything else, and ends it at its time or with its signal. Dispose of it afterwards. */
export class WorkLimit {
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  #expired = false;
  #spent = 0;

  constructor(signal: AbortSignal, limitMs: number) {
    this.#signal = signal;
    this.#timer = setTimeout(() => (this.#expired = true), limitMs);
  }

  /** Whether the time is up. */
  get expired(): boolean {
    return this.#expired;
  }

  /** Says how much was done, in steps of some nanoseconds; now and then lets others have their turn. @throws the signal's reason */
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

/** Some milliseconds to some tens of them. */
const STEPS_PER_TURN = 1_000_000;
