import { setMaxListeners } from "node:events";
import { startTimer } from "./timer.js";

/**
 * Cancels work: a run, a task with a time limit, a tool call. Keeps the first reason. Callbacks are
 * in a set: each listener on an AbortSignal makes adding the next one slower.
 */
export class Cancellation<R extends Error = Error> {
  /** Created when its signal is needed. Most cancellations never need one. */
  #controller: AbortController | undefined;
  readonly #callbacks = new Set<() => void>();
  #reason: R | undefined;
  #release: (() => void) | undefined;

  /** A cancellation of the parent also cancels this object, but not the reverse. */
  constructor(parent?: Cancellation<R>) {
    if (parent === undefined) return;
    const follow = (): void => this.cancel(parent.#reason as R); // set before callbacks run
    parent.onCancel(follow);
    this.#atRelease(() => parent.forget(follow));
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      setMaxListeners(0, this.#controller.signal); // many listeners on one signal are correct here
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get reason(): R | undefined {
    return this.#reason;
  }

  /** Further calls have no effect. */
  cancel(reason: R): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    // Reverse order: a worker precedes the task that waits for it.
    for (const callback of [...this.#callbacks].reverse()) callback();
    this.#callbacks.clear();
    this.dispose();
  }

  /** Calls `fn` on cancellation, or immediately if already cancelled. `forget` removes it. */
  onCancel(fn: () => void): void {
    if (this.#reason === undefined) this.#callbacks.add(fn);
    else fn();
  }

  forget(fn: () => void): void {
    this.#callbacks.delete(fn);
  }

  /** Cancels when `signal` is aborted. Default of `reason`: the signal's reason, of any type. */
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

  /** Cancels after `ms` milliseconds. */
  expire(ms: number, reason: () => R): this {
    if (this.#reason === undefined) this.#atRelease(startTimer(ms, () => this.cancel(reason())));
    return this;
  }

  /** Stops timers and removes itself from parents and signals. */
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

/** Signals from outside the platform may have no reason. */
function reasonOf(signal: AbortSignal): unknown {
  return signal.reason ?? new Error("The signal was aborted");
}
