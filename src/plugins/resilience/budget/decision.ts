import type { BudgetAmount } from "../../../contracts/budget-accounts.js";
import type { ChatModel } from "../../../contracts/chat-model.js";
import type { Account } from "./account.js";
import type { LimitName } from "./amount.js";
import type { Demand } from "./demand.js";
import { NOTHING, plus } from "./amount.js";

/** The decision about a call. */
export type Admission =
  | {
      readonly kind: "go";
      readonly model: ChatModel;
      readonly outputTokens: number;
      readonly by?: Account;
    }
  | { readonly kind: "wait" }
  | { readonly kind: "exceeded"; readonly account: Account; readonly limit: LimitName };

/**
 * Output tokens available to a model under all accounts: now, and at most. The maximum assumes that
 * calls in flight have used nothing.
 */
interface Room {
  readonly model: ChatModel;
  readonly now: number;
  readonly best: number;
  /** The account with the smallest maximum. */
  readonly tight: Account;
}

/**
 * Decides about a call under the accounts of its run and of those it joined. The call uses its
 * model if its demand fits. It waits if the demand may fit later. If not, it uses the cheaper model
 * of a budget. Without one, it gets a shorter answer if no call in flight can free room.
 */
export function admit(demand: Demand, accounts: readonly [Account, ...Account[]]): Admission {
  for (const account of accounts)
    if (account.over !== undefined) return { kind: "exceeded", account, limit: account.over };
  const own = roomOf(demand, demand.call.model, accounts);
  if (own.now >= demand.wanted)
    return { kind: "go", model: own.model, outputTokens: demand.wanted };
  if (own.best >= demand.wanted) return { kind: "wait" };
  const by = accounts.find(
    (account) =>
      account.cheaper !== undefined && account.cheaper !== own.model && isTight(account, demand),
  );
  const cheaper = by?.cheaper === undefined ? own : roomOf(demand, by.cheaper, accounts);
  const better = cheaper.best > own.best ? cheaper : own;
  if (better.now < demand.wanted && better.now < better.best && better.best >= demand.least)
    return { kind: "wait" };
  if (better.now >= demand.least)
    return {
      kind: "go",
      model: better.model,
      outputTokens: better.now,
      ...(better !== own && by !== undefined && { by }),
    };
  return {
    kind: "exceeded",
    account: better.tight,
    limit: better.tight.tightest(demand, unavoidable(better.tight, demand)),
  };
}

function isTight(account: Account, demand: Demand): boolean {
  return account.room(demand, demand.call.model, account.reserved) < demand.wanted;
}

function roomOf(
  demand: Demand,
  model: ChatModel,
  accounts: readonly [Account, ...Account[]],
): Room {
  let [now, best, tight] = [demand.wanted, demand.wanted, accounts[0]];
  for (const account of accounts) {
    now = Math.min(now, account.room(demand, model, account.reserved));
    const atBest = account.room(demand, model, unavoidable(account, demand));
    if (atBest < best) [best, tight] = [atBest, account];
  }
  return { model, now, best, tight };
}

/**
 * Returns the reservations of calls that may be waiting for this call. This call can't wait for
 * them.
 */
function unavoidable(account: Account, demand: Demand): BudgetAmount {
  // calls of the same run do not wait for each other
  if (account.owner === demand.call.run) return NOTHING;
  let sum = NOTHING;
  for (const [holder, { amount }] of account.reservations)
    if (holder.mayWaitFor(demand.call.run)) sum = plus(sum, amount);
  return sum;
}
