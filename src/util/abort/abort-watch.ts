/**
 * Calls many functions at the end of a signal with one listener on it. Each further listener would make adding slower, and Node.js warns of more than ten.
 */
export class AbortWatch {
  readonly #callbacks = new WeakMap<AbortSignal, Set<() => void>>();

  /** Calls `fn` once when the signal is aborted, which it must not be yet. Returns a function that takes `fn` back. */
  on(signal: AbortSignal, fn: () => void): () => void {
    const callbacks = this.#callbacks.get(signal) ?? this.#watch(signal);
    callbacks.add(fn);
    return () => callbacks.delete(fn);
  }

  #watch(signal: AbortSignal): Set<() => void> {
    const callbacks = new Set<() => void>();
    this.#callbacks.set(signal, callbacks);
    // Stays for as long as the signal lives, which is no longer than its task or run.
    signal.addEventListener("abort", () => callbacks.forEach((fn) => fn()), { once: true });
    return callbacks;
  }
}
