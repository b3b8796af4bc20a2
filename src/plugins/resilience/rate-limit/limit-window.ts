import type { RateLimit } from "../../../contracts/rate-limit.js";

/** A place is kept this much longer than the period: timers may fire early, and a call begins a little after its turn was granted. */
const MARGIN_MS = 10;

interface Spending {
  readonly at: number;
  readonly tokens: number;
}

/**
 * What the calls under one rate limit have used within the last period: the instants at which they started, and the tokens of those that have ended.
 * Tokens of calls in flight are reserved by estimate. All times are those of one monotonic clock.
 */
export class LimitWindow {
  readonly #starts: number[] = [];
  readonly #spendings: Spending[] = [];
  #spent = 0;
  #reserved = 0;

  /** `limit` may be exchanged for another; what was used counts on. */
  constructor(public limit: RateLimit) {}

  /** From when on a call may start, if nothing further is used or given back; not before `now`. Infinity: not before a call in flight has ended. */
  openAt(now: number): number {
    this.#forget(now);
    return Math.max(now, this.#startsOpenAt(), this.#tokensOpenAt(this.#reserved));
  }

  /** From when on a call may start at the best: when the calls in flight turn out to have used nothing. */
  openAtBest(now: number): number {
    this.#forget(now);
    return Math.max(now, this.#startsOpenAt(), this.#tokensOpenAt(0));
  }

  /** A call starts. */
  take(now: number, tokens: number): void {
    this.#starts.push(now);
    this.#reserved += tokens;
  }

  /** A call that was to start at `startedAt` starts only now. */
  postpone(startedAt: number, now: number): void {
    this.#remove(startedAt);
    this.#starts.push(now);
  }

  /** A call that was to start at `startedAt` was not made after all. */
  giveBack(startedAt: number, tokens: number): void {
    this.#remove(startedAt);
    this.#reserved -= tokens;
  }

  /** A call has ended: what it really used takes the place of what was reserved. */
  settle(now: number, reserved: number, used: number): void {
    this.#reserved -= reserved;
    if (this.limit.tokens === undefined || used === 0) return;
    this.#spent += used;
    this.#spendings.push({ at: now, tokens: used });
  }

  #remove(startedAt: number): void {
    const index = this.#starts.lastIndexOf(startedAt);
    if (index >= 0) this.#starts.splice(index, 1);
  }

  #forget(now: number): void {
    const bygone = now - this.limit.periodMs - MARGIN_MS;
    dropUntil(this.#starts, (at) => at > bygone);
    for (const { tokens } of dropUntil(this.#spendings, ({ at }) => at > bygone)) this.#spent -= tokens;
  }

  #startsOpenAt(): number {
    const { requests } = this.limit;
    const inTheWay = this.#starts.at(-requests);
    return inTheWay === undefined ? 0 : this.#freedAt(inTheWay);
  }

  #tokensOpenAt(reserved: number): number {
    const { tokens } = this.limit;
    if (tokens === undefined || this.#spent + reserved < tokens) return 0;
    let used = this.#spent + reserved;
    for (const { at, tokens: freed } of this.#spendings) {
      used -= freed;
      if (used < tokens) return this.#freedAt(at);
    }
    return Number.POSITIVE_INFINITY;
  }

  #freedAt(at: number): number {
    return at + this.limit.periodMs + MARGIN_MS;
  }
}

/** Takes what stands before the first item that is kept out of the list, at once: one by one would be slow for long lists. */
function dropUntil<T>(list: T[], isKept: (item: T) => boolean): T[] {
  const kept = list.findIndex(isKept);
  return list.splice(0, kept < 0 ? list.length : kept);
}
