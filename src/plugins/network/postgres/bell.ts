import { startTimer } from "../../../util/abort/timer.js";

/** Ends waits early. A ring without a waiter ends the next wait. */
export class Bell {
  #hasRung = false;
  #end: (() => void) | undefined;

  ring(): void {
    this.#hasRung = true;
    this.#end?.();
  }

  /** Resolves at the next ring, after `ms` milliseconds, or at the abort. One wait at a time. */
  async wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#hasRung && signal?.aborted !== true)
      await new Promise<void>((resolve) => {
        const stop = startTimer(ms, () => this.#end?.());
        this.#end = () => {
          stop();
          signal?.removeEventListener("abort", abort);
          this.#end = undefined;
          resolve();
        };
        const abort = this.#end;
        signal?.addEventListener("abort", abort, { once: true });
      });
    this.#hasRung = false;
  }
}
