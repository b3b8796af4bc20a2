import type { RateLimit } from "../../../contracts/rate-limit.js";

/**
 * Milliseconds for which a place is kept after its period, because the vendor uses another clock.
 */
const MARGIN_MS = 2;

interface Spending {
  readonly at: number;
  readonly tokens: number;
}

/**
 * The usage of one rate limit within the last period. It contains the start times of calls, and the
 * tokens of ended calls. A call that has its turn but has not begun holds a place. A call in flight
 * reserves its estimated tokens. All times come from one monotonic clock.
 */
export class LimitWindow {
  readonly #starts: number[] = [];
  readonly #spendings: Spending[] = [];
  #spent = 0;
  #held = 0;
  #reserved = 0;

  /** `limit` may be replaced. The usage is kept. */
  constructor(public limit: RateLimit) {}

  /**
   * Returns the earliest start of a call if nothing changes, at least `now`. Infinity if the start
   * depends on a call that has its turn or is in flight.
   */
  openAt(now: number): number {
    this.#forget(now);
    return Math.max(now, this.#startsOpenAt(this.#held), this.#tokensOpenAt(this.#reserved));
  }

  /**
   * Returns the earliest possible start of a call. It assumes that waiting calls never begin, and
   * that calls in flight use no tokens.
   */
  openAtBest(now: number): number {
    this.#forget(now);
    return Math.max(now, this.#startsOpenAt(0), this.#tokensOpenAt(0));
  }

  /** Called when a call gets its turn. */
  hold(tokens: number): void {
    this.#held++;
    this.#reserved += tokens;
  }

  /** Called when a call with a turn begins. */
  begin(now: number): void {
    this.#held--;
    this.#starts.push(now);
  }

  /** Called when a call with a turn will not begin. */
  giveBack(tokens: number): void {
    this.#held--;
    this.#reserved -= tokens;
  }

  /** Called when a call in flight has ended. Its usage replaces its reservation. */
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

/**
 * Removes all items before the first kept one in one step. Single removals are slow for long lists.
 */
function dropUntil<T>(list: T[], isKept: (item: T) => boolean): readonly T[] {
  const kept = list.findIndex(isKept);
  return kept === 0 ? NOTHING : list.splice(0, kept < 0 ? list.length : kept);
}

const NOTHING: readonly never[] = Object.freeze([]);
