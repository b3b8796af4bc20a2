import type { BudgetAmount } from "../../../contracts/budget-accounts.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { Account, ReservationHolder } from "./account.js";
import { allOf, passOn, recovered } from "../../../util/awaitable.js";
import { NOTHING } from "./amount.js";
import { advance } from "./queue.js";

/** The reservation in one account. */
interface ReservedPart {
  readonly account: Account;
  readonly amount: BudgetAmount;
}

/**
 * Reserves all parts in sequence, or none. Returns whether it did.
 * @throws LimitStoreError; the reason of `signal`.
 */
export function reserveAll(
  holder: ReservationHolder,
  parts: readonly ReservedPart[],
  signal?: AbortSignal,
): Awaitable<boolean> {
  const taken: Account[] = [];
  const reserveNext = (): Awaitable<boolean> => {
    const part = parts[taken.length];
    if (part === undefined) return true;
    const { account, amount } = part;
    return passOn(account.reserve(holder, amount, signal), (fits) => {
      if (!fits) return false;
      taken.push(account);
      return reserveNext();
    });
  };
  const putBack = (): Awaitable<void> => {
    if (taken.length === 0) return undefined;
    const settled = taken.map((account) => account.settle(holder, NOTHING));
    return passOn(allOf(settled), () => advance(taken));
  };
  const reserved = recovered(reserveNext, (error) =>
    passOn(putBack(), () => {
      throw error;
    }),
  );
  return passOn(reserved, (fits) => (fits ? true : passOn(putBack(), () => false)));
}
