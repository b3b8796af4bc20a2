import type { RateLimit } from "../../../contracts/rate-limit.js";

/** A place is kept this much longer than the period: who counts the calls may do so by another clock. */
const MARGIN_MS = 2;

interface Spending {
  readonly at: number;
  readonly tokens: number;
}

/**
 * What the calls under one rate limit have used within the last period: the instants at which they began, and the tokens of those that have ended.
 * Calls that have their turn but are not known to have begun hold a place, and calls in flight reserve the tokens they are estimated to use.
 * All times are those of one monotonic clock.
 */
export class LimitWindow {
  readonly #starts: number[] = [];
  readonly #spendings: Spending[] = [];
  #spent = 0;
  #held = 0;
  #reserved = 0;

  /** `limit` may be exchanged for another; what was used counts on. */
  constructor(public limit: RateLimit) {}

  /** From when on a call may start, if nothing further happens; not before `now`. Infinity: not before a call with a turn has begun or ended. */
  openAt(now: number): number {
    this.#forget(now);
    return Math.max(now, this.#startsOpenAt(this.#held), this.#tokensOpenAt(this.#reserved));
  }

  /** From when on a call may start at the best: when those that have not begun never do, and those in flight turn out to have used nothing. */
  openAtBest(now: number): number {
    this.#forget(now);
    return Math.max(now, this.#startsOpenAt(0), this.#tokensOpenAt(0));
  }

  /** A call gets its turn. */
  hold(tokens: number): void {
    this.#held++;
    this.#reserved += tokens;
  }

  /** It has begun. */
  begin(now: number): void {
    this.#held--;
    this.#starts.push(now);
  }

  /** It will not begin. */
  giveBack(tokens: number): void {
    this.#held--;
    this.#reserved -= tokens;
  }

  /** A call that had begun has ended: what it really used takes the place of what was reserved. */
  settle(now: number, reserved: number, used: number): void {
    this.#reserved -= reserved;
    if (this.limit.tokens === undefined || used === 0) return;
    this.#spent += used;
    this.#spendings.push({ at: now, tokens: used });
  }

  #forget(now: number): void {
    const bygone = now - this.limit.periodMs - MARGIN_MS;
    dropUntil(this.#starts, (at) => at > bygone);
    for (const { tokens } of dropUntil(this.#spendings, ({ at }) => at > bygone))
      this.#spent -= tokens;
  }

  #startsOpenAt(held: number): number {
    const places = this.limit.requests - held;
    if (places <= 0) return Number.POSITIVE_INFINITY;
    const inTheWay = this.#starts.at(-places);
    return inTheWay === undefined ? 0 : this.#freedAt(inTheWay);
  }

  #tokensOpenAt(reserved: number): number {
    const { tokens } = this.limit;
    let used = this.#spent + reserved;
    if (tokens === undefined || used < tokens) return 0;
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
function dropUntil<T>(list: T[], isKept: (item: T) => boolean): readonly T[] {
  const kept = list.findIndex(isKept);
  return kept === 0 ? NOTHING : list.splice(0, kept < 0 ? list.length : kept);
}

const NOTHING: readonly never[] = Object.freeze([]);
