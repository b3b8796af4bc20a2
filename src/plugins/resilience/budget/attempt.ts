import type { Awaitable } from "../../../contracts/types.js";
import type { Account } from "./account.js";
import type { Demand } from "./demand.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { LimitStoreError } from "../../../contracts/state-errors.js";
import { allOf, passOn, recovered } from "../../../util/awaitable.js";
import { messageOf } from "../../../util/errors.js";
import { admit } from "./decision.js";
import { announce, exceed } from "./exceeded.js";
import { Refusal, Reservation } from "./reservation.js";

/**
 * Maximum number of consecutive refusals although the state allows the amount. Beyond it, the
 * account is broken.
 */
const MOST_REFUSALS = 100;

export type Accounts = readonly [Account, ...Account[]];

/** The result of a call's attempt to reserve: a reservation or a refusal. */
export type Charge = Reservation | Refusal;

/**
 * Updates the states of all accounts. Returns no promise if they are up to date.
 * @throws LimitStoreError; the reason of `signal`.
 */
export function caughtUp(accounts: readonly Account[], signal?: AbortSignal): Awaitable<unknown> {
  return accounts.some(({ isBehind }) => isBehind)
    ? allOf(accounts.map((account) => account.catchUp(signal)))
    : undefined;
}

/** @throws LimitStoreError after too many refusals. */
export function checkRefusals(refusals: number): void {
  if (refusals >= MOST_REFUSALS)
    throw new LimitStoreError("The account of a budget refused what its state allows");
}

/**
 * Decides about a call by the last known state of its accounts, and reserves its maximum usage.
 * After a refusal it decides again with the newer state of the account. `mayGo` is whether the call
 * may overtake others. Returns `undefined` for a call that waits.
 * @throws the reason of the signal of the call.
 */
export function attempt(
  demand: Demand,
  accounts: Accounts,
  mayGo = true,
): Awaitable<Charge | undefined> {
  const { call } = demand;
  return recovered(
    () => passOn(caughtUp(accounts, call.signal), () => decide(demand, accounts, mayGo)),
    (error) => {
      call.signal.throwIfAborted();
      return new Refusal(refusalError(error));
    },
  );
}

/** Converts an error of an invalid price or account, which is an error of JavaScript. */
function refusalError(error: unknown): AgentEnsembleError {
  if (AgentEnsembleError.isInstance(error)) return error;
  return new LimitStoreError(`A budget could not be kept: ${messageOf(error)}`, { cause: error });
}

function decide(
  demand: Demand,
  accounts: Accounts,
  mayGo: boolean,
  refusals = 0,
): Awaitable<Charge | undefined> {
  const { call } = demand;
  const decision = admit(demand, accounts);
  if (decision.kind === "exceeded")
    return new Refusal(exceed(call, decision.account, decision.limit, demand));
  if (decision.kind === "wait" || !mayGo) return undefined;
  const { model, outputTokens, by } = decision;
  const reservation = new Reservation(demand, model, outputTokens, accounts);
  return passOn(reservation.take(), (isTaken) => {
    if (!isTaken) {
      checkRefusals(refusals + 1);
      return decide(demand, accounts, mayGo, refusals + 1);
    }
    if (by !== undefined) announce(call, by, "maxCost", "downgrade");
    return reservation;
  });
}
