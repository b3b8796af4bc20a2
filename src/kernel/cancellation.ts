import { setMaxListeners } from "node:events";
import type { AgentEnsembleError } from "../contracts/errors.js";

/**
 * One thing that can be called off: a run, a task with a time limit, a tool call.
 * Keeps its own set of callbacks: an AbortSignal with a thousand listeners adds each of them in linear time.
 */
export class Cancellation {
  readonly #controller = new AbortController();
  readonly #callbacks = new Set<() => void>();
  #reason: AgentEnsembleError | undefined;
  #release: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Bound to a parent: cancelled with it, never the other way. */
  constructor(parent?: Cancellation) {
    setMaxListeners(0, this.#controller.signal); // one for each parallel task is no leak
    if (parent === undefined) return;
    const follow = (): void => this.cancel(parent.#reason as AgentEnsembleError); // set before callbacks run
    parent.onCancel(follow);
    this.#release = () => parent.forget(follow);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): AgentEnsembleError | undefined {
    return this.#reason;
  }

  /** The first reason stays. */
  cancel(reason: AgentEnsembleError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller.abort(reason);
    for (const callback of [...this.#callbacks].reverse()) callback(); // what began last ends first: a worker before the one who waits for it
    this.#callbacks.clear();
  }

  /** Calls `fn` on cancellation, at once if that has happened. Take it back with `forget`. */
  onCancel(fn: () => void): void {
    if (this.#reason === undefined) this.#callbacks.add(fn);
    else fn();
  }

  forget(fn: () => void): void {
    this.#callbacks.delete(fn);
  }

  /** Cancelled when `signal` is. */
  follow(signal: AbortSignal, reason: () => AgentEnsembleError): this {
    const release = this.#release;
    const onAbort = (): void => this.cancel(reason());
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    this.#release = () => {
      signal.removeEventListener("abort", onAbort);
      release?.();
    };
    return this;
  }

  /** Cancelled after `ms` milliseconds. */
  expire(ms: number, reason: () => AgentEnsembleError): this {
    this.#timer = setTimeout(() => this.cancel(reason()), ms);
    return this;
  }

  /** Lets go of parents, signals and timers. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#release?.();
    this.#release = undefined;
  }
}

/** The result of `work`; after a cancellation work gets `graceMs` to end, then it is abandoned and the reason is thrown. */
export function settleWithin<T>(
  work: PromiseLike<T>,
  cancellation: Cancellation,
  graceMs: number,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const abandon = (): void => {
      timer = setTimeout(() => reject(cancellation.reason as AgentEnsembleError), graceMs); // cancelled, so there is a reason
    };
    cancellation.onCancel(abandon);
    const settled = (): void => {
      cancellation.forget(abandon);
      if (timer !== undefined) clearTimeout(timer);
    };
    Promise.resolve(work).then(
      (value) => {
        settled();
        resolve(value);
      },
      (error: unknown) => {
        settled();
        reject(error);
      },
    );
  });
}

/** Waits `ms` milliseconds; rejects with the reason at once when cancelled. */
export function sleep(ms: number, cancellation: Cancellation): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const cancelled = (): void => {
      clearTimeout(timer);
      reject(cancellation.reason ?? new Error("cancelled"));
    };
    const timer = setTimeout(() => {
      cancellation.forget(cancelled);
      resolve();
    }, ms);
    cancellation.onCancel(cancelled);
  });
}
