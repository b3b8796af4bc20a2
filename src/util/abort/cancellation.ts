import { setMaxListeners } from "node:events";
import { startTimer } from "./timer.js";

/**
 * Ends work from outside: a run, a task with a time limit, a tool call. The first reason is kept.
 * Keeps its own set of callbacks: each listener on an AbortSignal makes adding the next one slower.
 */
export class Cancellation<R extends Error = Error> {
  readonly #controller = new AbortController();
  readonly #callbacks = new Set<() => void>();
  #reason: R | undefined;
  #release: (() => void) | undefined;

  /** Is cancelled with its parent; the parent is never cancelled with it. */
  constructor(parent?: Cancellation<R>) {
    setMaxListeners(0, this.#controller.signal); // one for each parallel task is no leak
    if (parent === undefined) return;
    const follow = (): void => this.cancel(parent.#reason as R); // set before callbacks run
    parent.onCancel(follow);
    this.#atRelease(() => parent.forget(follow));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): R | undefined {
    return this.#reason;
  }

  /** Does nothing when there is a reason already. */
  cancel(reason: R): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller.abort(reason);
    for (const callback of [...this.#callbacks].reverse()) callback(); // what began last ends first: a worker before the one who waits for it
    this.#callbacks.clear();
    this.dispose();
  }

  /** Calls `fn` on cancellation, immediately if that has happened. `forget` takes it back. */
  onCancel(fn: () => void): void {
    if (this.#reason === undefined) this.#callbacks.add(fn);
    else fn();
  }

  forget(fn: () => void): void {
    this.#callbacks.delete(fn);
  }

  /** Is cancelled with `signal`. Default of `reason`: the signal's reason, whatever it is. */
  follow(signal: AbortSignal, reason: () => R = () => reasonOf(signal) as R): this {
    if (this.#reason !== undefined) return this;
    const onAbort = (): void => this.cancel(reason());
    if (signal.aborted) {
      onAbort();
      return this;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    this.#atRelease(() => signal.removeEventListener("abort", onAbort));
    return this;
  }

  /** Is cancelled after `ms` milliseconds. */
  expire(ms: number, reason: () => R): this {
    if (this.#reason === undefined) this.#atRelease(startTimer(ms, () => this.cancel(reason())));
    return this;
  }

  /** Stops timers and leaves parents and signals. */
  dispose(): void {
    this.#release?.();
    this.#release = undefined;
  }

  #atRelease(fn: () => void): void {
    const before = this.#release;
    this.#release =
      before === undefined
        ? fn
        : () => {
            fn();
            before();
          };
  }
}

/** Signals that are not the platform's may have no reason. */
function reasonOf(signal: AbortSignal): unknown {
  return signal.reason ?? new Error("The signal was aborted");
}
