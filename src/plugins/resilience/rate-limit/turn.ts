import type { RateLimit } from "../../../contracts/rate-limit.js";
import type { LimitWindow } from "./limit-window.js";

/** One model call on its way through the windows of all its limits: it takes a place in each of them at once, or in none. */
export class Turn {
  #begun = false;
  #counted = false;

  constructor(
    /** At least one. */
    readonly windows: readonly LimitWindow[],
    /** Estimated input; reserved while the call is in flight. */
    readonly tokens: number,
    readonly arrivedAt: number,
    /** Until when the vendor wants no further call of this model. */
    readonly pausedUntil: () => number,
  ) {}

  get begun(): boolean {
    return this.#begun;
  }

  isOpen(now: number): boolean {
    return this.#openAt(now) <= now;
  }

  /** Its turn has come. */
  take(): void {
    for (const window of this.windows) window.hold(this.tokens);
  }

  /** The model is about to be called. */
  begin(): void {
    this.#begun = true;
  }

  /** The model has been called: the period counts from here. */
  count(now: number): void {
    if (this.#counted) return;
    this.#counted = true;
    for (const window of this.windows) window.begin(now);
  }

  /** It is over: the call has used so many tokens, or has never begun. */
  end(now: number, used: number): void {
    if (this.#begun) this.count(now);
    this.#counted = true;
    for (const window of this.windows) {
      if (this.#begun) window.settle(now, this.tokens, used);
      else window.giveBack(this.tokens);
    }
  }

  /** The limit that holds it up longest, and how long it does at least. */
  obstacle(now: number): { readonly limit: RateLimit; readonly waitMs: number } {
    const waits = this.windows.map((window) => ({
      limit: window.limit,
      waitMs: Math.ceil(this.#earliest(window, now) - now),
    }));
    return waits.reduce((longest, wait) => (wait.waitMs > longest.waitMs ? wait : longest));
  }

  /** The limit for which it has waited too long, or certainly will. */
  missed(now: number): RateLimit | undefined {
    const missed = this.windows.find((window) => {
      const deadline = this.#deadline(window);
      return (
        this.#earliest(window, now) > deadline || (now >= deadline && window.openAt(now) > now)
      );
    });
    return missed?.limit;
  }

  /** When to look at it again: when it may be open, or when its patience ends. */
  nextLook(now: number): number {
    const deadlines = this.windows
      .map((window) => this.#deadline(window))
      .filter((deadline) => deadline > now);
    return Math.min(this.#openAt(now), ...deadlines);
  }

  #openAt(now: number): number {
    return this.windows.reduce(
      (latest, window) => Math.max(latest, window.openAt(now)),
      this.pausedUntil(),
    );
  }

  #earliest(window: LimitWindow, now: number): number {
    return Math.max(window.openAtBest(now), this.pausedUntil());
  }

  #deadline(window: LimitWindow): number {
    return this.arrivedAt + window.limit.waitTimeoutMs;
  }
}
