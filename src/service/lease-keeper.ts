import type { Lease, RequestQueue } from "../contracts/network.js";
import type { Clock } from "../contracts/runtime.js";
import { startClockTimer } from "../plugins/network/shared/clock-timer.js";

/** Renews the lease of a request at each third of its duration, until it is stopped. */
export class LeaseKeeper {
  readonly #queue: RequestQueue;
  readonly #lease: Lease;
  readonly #clock: Clock;
  readonly #seen: (held: boolean) => void;
  #stopTimer: () => void = () => undefined;
  #isStopped = false;

  /** `seen` receives the result of each renewal that the store answered. */
  constructor(
    { queue, clock }: { readonly queue: RequestQueue; readonly clock: Clock },
    lease: Lease,
    seen: (held: boolean) => void,
  ) {
    this.#queue = queue;
    this.#lease = lease;
    this.#clock = clock;
    this.#seen = seen;
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
  }

  #schedule(): void {
    const { leaseMs } = this.#lease;
    this.#stopTimer = startClockTimer(this.#clock, leaseMs / 3, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    this.#schedule(); // a store that does not respond does not end the renewals
    let held: boolean;
    try {
      held = await this.#queue.extend(this.#lease);
    } catch {
      return; // The store is unavailable. The next renewal shows whether the lease was lost.
    }
    if (this.#isStopped) return;
    if (!held) this.stop();
    this.#seen(held);
  }
}
