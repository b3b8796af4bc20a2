import { setImmediate as nextTurn } from "node:timers/promises";
const SLICE_MS = 15;

/** Divides long work into short slices, so the event loop can run and an abort takes effect. */
export class Pacer {
  readonly #signal: AbortSignal | undefined;
  #sliceStart = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.throwIfAborted();
  }

  /**
   * Call it between slices of a few milliseconds.
   * @throws the signal's reason once aborted
   */
  async pause(): Promise<void> {
    if (performance.now() - this.#sliceStart >= SLICE_MS) await this.rest();
  }

  /**
   * Yields to the event loop once.
   * @throws the signal's reason once aborted
   */
  async rest(): Promise<void> {
    await nextTurn();
    this.#sliceStart = performance.now();
    this.#signal?.throwIfAborted();
  }
}
