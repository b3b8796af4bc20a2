/**
 * Calls many functions when a signal aborts, with a single listener. Each listener makes adding the
 * next one slower, and Node.js warns about more than ten.
 */
export class AbortWatch {
  readonly #callbacks = new WeakMap<AbortSignal, Set<() => void>>();

  /**
   * Calls `fn` once when the signal is aborted. The signal must not be aborted yet. Returns a
   * function that removes `fn`.
   */
  on(signal: AbortSignal, fn: () => void): () => void {
    const callbacks = this.#callbacks.get(signal) ?? this.#watch(signal);
    callbacks.add(fn);
    return () => callbacks.delete(fn);
  }

  #watch(signal: AbortSignal): Set<() => void> {
    const callbacks = new Set<() => void>();
    this.#callbacks.set(signal, callbacks);
    // Not removed: the signal exists no longer than its task or run.
    signal.addEventListener("abort", () => callbacks.forEach((fn) => fn()), { once: true });
    return callbacks;
  }
}
