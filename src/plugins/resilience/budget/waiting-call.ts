import type { Account } from "./account.js";
import type { Admission } from "./decision.js";
import type { Demand } from "./demand.js";
import type { Reservation, Refusal } from "./reservation.js";

import { admit } from "./decision.js";
import { toError } from "../../../util/errors.js";

/** A call that waits until others have settled, in the queues of all its accounts. */
export class WaitingDemand {
  readonly outcome: Promise<Reservation | Refusal>;
  #resolve: (outcome: Reservation | Refusal) => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;

  constructor(
    readonly demand: Demand,
    readonly accounts: readonly [Account, ...Account[]],
    /** A call of a run that a tap of another call may have started can't wait behind others that wait for that one. */
    readonly overtakes: boolean,
    readonly conclude: (
      demand: Demand,
      accounts: readonly [Account, ...Account[]],
      decision: Exclude<Admission, { readonly kind: "wait" }>,
    ) => Reservation | Refusal,
  ) {
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    for (const account of accounts) account.waiting.add(this);
  }

  /** Decides again, where it is its turn; whether it has left. */
  step(): boolean {
    if (
      !this.overtakes &&
      this.accounts.some((account) => first(account.waiting) !== this && account.over === undefined)
    )
      return false;
    try {
      const decision = admit(this.demand, this.accounts);
      if (decision.kind === "wait") return false;
      this.leave();
      this.#resolve(this.conclude(this.demand, this.accounts, decision));
    } catch (error) {
      this.giveUp(toError(error));
    }
    return true;
  }

  giveUp(reason: unknown): void {
    this.leave();
    this.#reject(reason);
  }

  leave(): void {
    for (const account of this.accounts) account.waiting.delete(this);
  }
}

function first<T>(items: ReadonlySet<T>): T | undefined {
  for (const item of items) return item;
  return undefined;
}
