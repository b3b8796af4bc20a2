import type { QueueClock } from "./clock-timer.js";
import { startClockTimer } from "./clock-timer.js";

/** Consumers that wait for a request of one queue, in the order of their arrival. */
export class QueueWaiters {
  readonly #clock: QueueClock;
  readonly #waiting = new Set<() => void>();
  #alarm: { readonly at: number; readonly stop: () => void } | undefined;

  constructor(clock: QueueClock) {
    this.#clock = clock;
  }

  /** Resolves when this consumer should read again, after `ms` milliseconds, or at the abort. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#waiting.delete(end);
        stop();
        signal?.removeEventListener("abort", end);
        if (this.#waiting.size === 0) this.#stopAlarm();
        resolve();
      };
      const stop = startClockTimer(this.#clock, ms, end);
      signal?.addEventListener("abort", end, { once: true });
      this.#waiting.add(end);
    });
  }

  /** Wakes the consumer that has waited longest. */
  wake(): void {
    for (const end of this.#waiting) return end();
  }

  wakeAll(): void {
    for (const end of [...this.#waiting]) end();
  }

  /** Wakes a waiting consumer at an instant of the clock. Replaces an earlier call. */
  wakeAt(at: number | undefined, now: number): void {
    if (at === this.#alarm?.at) return;
    this.#stopAlarm();
    if (at === undefined || this.#waiting.size === 0) return;
    const ring = (): void => {
      this.#alarm = undefined;
      this.wake();
    };
    this.#alarm = { at, stop: startClockTimer(this.#clock, at - now, ring) };
  }

  #stopAlarm(): void {
    this.#alarm?.stop();
    this.#alarm = undefined;
  }
}
