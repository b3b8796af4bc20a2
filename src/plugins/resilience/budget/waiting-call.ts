import type { Awaitable } from "../../../contracts/types.js";
import type { AgentEnsembleError } from "../../../contracts/errors.js";
import type { Accounts, Charge } from "./attempt.js";
import type { Demand } from "./demand.js";
import type { QueuedCall } from "./queue.js";
import { isLater } from "../../../util/awaitable.js";
import { toError } from "../../../util/errors.js";
import { attempt } from "./attempt.js";
import { advance } from "./queue.js";
import { Refusal, Reservation } from "./reservation.js";

/** A call that waits for settlements of others, in the queues of all its accounts. */
export class WaitingDemand implements QueuedCall {
  readonly outcome: Promise<Charge>;
  #resolve: (outcome: Charge) => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;
  #isDeciding = false;
  #hasLeft = false;

  constructor(
    readonly demand: Demand,
    readonly accounts: Accounts,
    /**
     * Whether it may overtake others. A tap of another call may have started the run of this call.
     * The other call then waits for this call, which must not wait behind it.
     */
    readonly overtakes: boolean,
  ) {
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    for (const account of accounts) account.enqueue(this);
  }

  /**
   * Decides again, in its turn. Returns whether the call has left the queue. If an account answers
   * later, that answer releases other calls.
   */
  step(): boolean {
    if (this.#isDeciding || !this.#isItsTurn()) return false;
    this.#isDeciding = true;
    let decided: Awaitable<Charge | undefined>;
    try {
      decided = attempt(this.demand, this.accounts);
    } catch (error) {
      this.giveUp(toError(error));
      return true;
    }
    if (!isLater(decided)) return this.#end(decided);
    void Promise.resolve(decided).then(
      (charge) => this.#endLater(charge),
      (error: unknown) => this.giveUp(error),
    );
    return false;
  }

  /** Called when the awaited state is no longer known. */
  fail(error: unknown): void {
    this.#leave();
    this.#resolve(new Refusal(error as AgentEnsembleError)); // a LimitStoreError
  }

  giveUp(reason: unknown): void {
    this.#leave();
    this.#reject(reason);
  }

  #isItsTurn(): boolean {
    return (
      this.overtakes ||
      this.accounts.every(
        ({ waiting, over }) => waiting.values().next().value === this || over !== undefined,
      )
    );
  }

  #end(charge: Charge | undefined): boolean {
    this.#isDeciding = false;
    if (charge === undefined) return false;
    this.#leave();
    this.#resolve(charge);
    return true;
  }

  async #endLater(charge: Charge | undefined): Promise<void> {
    // The awaited room may have become available during the query.
    if (!this.#hasLeft) this.#end(charge);
    else if (charge instanceof Reservation) await charge.release();
    advance(this.accounts);
  }

  #leave(): void {
    this.#hasLeft = true;
    for (const account of this.accounts) account.dequeue(this);
  }
}
