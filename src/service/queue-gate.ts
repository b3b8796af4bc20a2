import type { BudgetAccount, BudgetReservation } from "../contracts/budget-accounts.js";
import type { FleetLimits } from "../contracts/network.js";
import type { QueueLimits } from "../contracts/queue-options.js";
import type { RateTurn } from "../contracts/rate-window.js";
import type { Clock } from "../contracts/runtime.js";
import { RateLimit } from "../contracts/rate-limit.js";
import { startClockTimer } from "../plugins/network/shared/clock-timer.js";
import { clockPause } from "../util/abort/pauses.js";

/** Interval in ms at which a full queue is read. */
const LOOK_MS = 250;
const NOTHING = Object.freeze({ tokens: 0, cost: 0 });

/** The permission to execute one request. */
export interface QueuePlace {
  /** Called when a request was taken. */
  begin(): void;
  /** Called if no request was taken, or when the request has ended. */
  leave(): void;
}

/** Used if requests are not limited. */
export const NO_LIMIT: QueuePlace = Object.freeze({
  begin: () => undefined,
  leave: () => undefined,
});

/**
 * Admits the requests of a queue within the limits of all processes. A place of `globalConcurrency`
 * is a reserved unit of an account. The lease of the unit is renewed.
 */
export class QueueGate {
  readonly #key: string;
  readonly #limits: QueueLimits;
  readonly #fleet: FleetLimits;
  readonly #clock: Clock;
  readonly #held = new Set<BudgetReservation>();
  #account: BudgetAccount | undefined;
  #stopRenewing: (() => void) | undefined;

  constructor(name: string, limits: QueueLimits, fleet: FleetLimits, clock: Clock) {
    this.#key = `queue:${name}`;
    this.#limits = limits;
    this.#fleet = fleet;
    this.#clock = clock;
  }

  /**
   * Waits until one more request may begin. Returns `undefined` after an abort. Calls `looked`
   * after each answer of the store.
   * @throws the error of the store.
   */
  async enter(signal: AbortSignal, looked: () => void): Promise<QueuePlace | undefined> {
    const place = await this.#place(signal, looked);
    if (place === undefined) return undefined;
    let turn: RateTurn | undefined;
    try {
      turn = await this.#turn(signal, looked);
    } catch (error) {
      place();
      throw error;
    }
    if (turn === undefined) {
      place();
      return undefined;
    }
    const { begin, end } = turn;
    return {
      begin: () => begin.call(turn),
      leave: () => {
        end.call(turn, 0);
        place();
      },
    };
  }

  /** Reserves a place. Returns a function that releases it. */
  async #place(signal: AbortSignal, looked: () => void): Promise<(() => void) | undefined> {
    const { globalConcurrency: maxTokens } = this.#limits;
    if (maxTokens === undefined) return signal.aborted ? undefined : () => undefined;
    const request = { key: this.#key, maxTokens, earlier: NOTHING };
    while (!signal.aborted) {
      this.#account ??= await this.#fleet.budgetAccounts.open(request);
      const place = await this.#account.reserve({ tokens: 1, cost: 0 });
      looked();
      if (place !== undefined) return this.#kept(place);
      await clockPause(this.#clock, LOOK_MS, signal);
    }
    return undefined;
  }

  #kept(place: BudgetReservation): () => void {
    this.#held.add(place);
    this.#renewLater();
    return () => {
      if (!this.#held.delete(place)) return;
      if (this.#held.size === 0) this.#stopRenewing?.();
      void returned(place); // never rejects
    };
  }

  #renewLater(): void {
    const shared = this.#account?.shared;
    if (shared === undefined) return;
    this.#stopRenewing?.();
    this.#stopRenewing = startClockTimer(this.#clock, shared.leaseMs / 3, () => {
      if (this.#held.size === 0) return;
      this.#renewLater();
      void leaseRenewed(() => shared.renew([...this.#held])); // never rejects
    });
  }

  async #turn(signal: AbortSignal, looked: () => void): Promise<RateTurn | undefined> {
    const { rate } = this.#limits;
    if (rate === undefined) return signal.aborted ? undefined : FREE;
    const limit = RateLimit.of(rate.starts, rate.periodMs);
    const limits = [{ key: this.#key, owner: this, limit }];
    while (!signal.aborted) {
      const answer = await this.#fleet.rateWindow.take({ limits, tokens: 0, signal });
      looked();
      if (!("waits" in answer)) return answer;
      const [wait] = answer.waits;
      await clockPause(this.#clock, Math.min(wait?.openMs ?? LOOK_MS, LOOK_MS), signal);
    }
    return undefined;
  }
}

const FREE: RateTurn = Object.freeze({ begin: () => undefined, end: () => undefined });

/** Releases a place. If the release fails, the place becomes free at the end of its lease. */
async function returned(place: BudgetReservation): Promise<void> {
  try {
    await place.settle(NOTHING);
  } catch {
    // The lease expires.
  }
}

async function leaseRenewed(renew: () => unknown): Promise<void> {
  try {
    await renew();
  } catch {
    // The next renewal tries again.
  }
}
