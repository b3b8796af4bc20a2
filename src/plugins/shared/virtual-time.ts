import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../contracts/runtime.js";

/**
 * Each reading of the clock is later than the previous one, so equal instants keep their order. The
 * amount is too small to affect durations.
 */
const STEP_MS = 2 ** -20;

interface WaitingSleep {
  readonly at: number;
  readonly start: () => void;
}

/**
 * The clock of a replay. It stops while the program works. When all work waits, it advances to the
 * next recorded event. Answers arrive in the recorded order and with the recorded durations,
 * without real waits.
 */
export class VirtualTime implements Clock {
  #ms = 0;
  #wallMs: number | undefined;
  #live: number | undefined;
  /** Sorted by time. Equal times keep the order of arrival. */
  readonly #waiting: WaitingSleep[] = [];
  #armed = false;

  constructor(
    /** Returns the start of the run with this id in the recording. */
    readonly recordedStart: (runId: string) => Date | undefined,
    readonly system: Clock,
    /** Whether the recording determines the next step. If so, the clock does not. */
    readonly isDriven: () => boolean,
  ) {}

  /** Continues in real time after a step that was not recorded. */
  goLive(): void {
    this.#live ??= this.system.monotonicMs();
  }

  monotonicMs(): number {
    this.#ms += STEP_MS;
    return this.#ms + this.#lived();
  }

  now(): Date {
    if (this.#wallMs === undefined) return this.system.now();
    return new Date(this.#wallMs + this.#ms + this.#lived());
  }

  startOf(runId: string): Date | undefined {
    const start = this.recordedStart(runId);
    if (start !== undefined && (this.#wallMs === undefined || this.now() < start))
      this.#wallMs = start.getTime() - this.#ms - this.#lived();
    return start;
  }

  /** Advances to the recorded time `atMs`. */
  advance(atMs: number): void {
    this.#ms = Math.max(this.#ms, atMs);
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (this.isDriven() && this.#live === undefined) {
      await nextTurn();
      signal.throwIfAborted();
      return;
    }
    return this.until(this.monotonicMs() + ms, signal);
  }

  /** Resolves at this time. Rejects with the reason of the signal. */
  until(atMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error); // the reason may be any value
        return;
      }
      const { done, onAbort } = this.#settlers(resolve, reject, signal);
      if (this.#live === undefined) {
        const waiting = { at: atMs, start: done };
        this.#enqueue(waiting);
        onAbort(() => this.#waiting.splice(this.#waiting.indexOf(waiting), 1));
      } else {
        const timer = setTimeout(done, Math.max(0, atMs - this.monotonicMs()));
        onAbort(() => clearTimeout(timer));
      }
    });
  }

  #settlers(
    resolve: () => void,
    reject: (reason: Error) => void,
    signal: AbortSignal,
  ): { done: () => void; onAbort: (release: () => void) => void } {
    let release: (() => void) | undefined;
    const aborted = (): void => {
      release?.();
      reject(signal.reason as Error); // the reason may be any value
    };
    signal.addEventListener("abort", aborted, { once: true });
    return {
      done: () => {
        signal.removeEventListener("abort", aborted);
        resolve();
      },
      onAbort: (fn) => void (release = fn),
    };
  }

  #lived(): number {
    return this.#live === undefined ? 0 : this.system.monotonicMs() - this.#live;
  }

  #enqueue(waiting: WaitingSleep): void {
    let place = this.#waiting.length;
    while (place > 0 && (this.#waiting[place - 1]?.at ?? 0) > waiting.at) place--;
    this.#waiting.splice(place, 0, waiting);
    this.#arm();
  }

  /**
   * Starts one waiting sleep at a time. The consequences of an event precede the next event, even
   * if the next event is due earlier.
   */
  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    setImmediate(() =>
      setImmediate(() => {
        this.#armed = false;
        const next = this.#waiting.shift();
        if (next === undefined) return;
        this.#ms = Math.max(this.#ms, next.at);
        if (this.#waiting.length > 0) this.#arm();
        next.start();
      }),
    );
  }
}
