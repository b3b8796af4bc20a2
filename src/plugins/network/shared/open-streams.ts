/** Counts the open streams of each caller. */
export class OpenStreams {
  readonly most: number;
  readonly #counts = new Map<string, number>();

  constructor(most: number) {
    this.most = most;
  }

  /**
   * Counts one more stream. Returns the function to call once at its end. Returns `undefined` at
   * the limit.
   */
  open(caller: string): (() => void) | undefined {
    const count = this.#counts.get(caller) ?? 0;
    if (count >= this.most) return undefined;
    this.#counts.set(caller, count + 1);
    return () => {
      const left = (this.#counts.get(caller) ?? 1) - 1;
      if (left === 0) this.#counts.delete(caller);
      else this.#counts.set(caller, left);
    };
  }
}
