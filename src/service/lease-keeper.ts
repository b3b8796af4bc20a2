import type { Lease, RequestQueue } from "../contracts/network.js";
import type { Clock } from "../contracts/runtime.js";
import { startClockTimer } from "../plugins/network/shared/clock-timer.js";

/** Number of repetitions of a failed renewal within the duration of a lease. */
const REPEATS = 30;

/**
 * Renews the lease of a request at each third of its duration, until it is stopped. A failed
 * renewal is repeated sooner. If the store is available again before the lease ends, the lease is
 * kept.
 */
export class LeaseKeeper {
  readonly #queue: RequestQueue;
  readonly #lease: Lease;
  readonly #clock: Clock;
  readonly #seen: (held: boolean) => void;
  #stopTimer: () => void = () => undefined;
  #isStopped = false;

  /** `seen` is called with the result of each renewal that the store answered. */
  constructor(
    { queue, clock }: { readonly queue: RequestQueue; readonly clock: Clock },
    lease: Lease,
    seen: (held: boolean) => void,
  ) {
    this.#queue = queue;
    this.#lease = lease;
    this.#clock = clock;
    this.#seen = seen;
    this.#schedule(lease.leaseMs / 3);
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  #schedule(ms: number): void {
    this.#stopTimer();
    this.#stopTimer = startClockTimer(this.#clock, ms, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { leaseMs } = this.#lease;
    this.#schedule(leaseMs / 3); // a store that does not respond does not end the renewals
    let held: boolean;
    try {
      held = await this.#queue.extend(this.#lease);
    } catch {
      if (!this.#isStopped) this.#schedule(leaseMs / REPEATS);
      return; // The store is unavailable. The next renewal shows whether the lease was lost.
    }
    if (this.#isStopped) return;
    if (!held) this.stop();
    this.#seen(held);
  }
}
