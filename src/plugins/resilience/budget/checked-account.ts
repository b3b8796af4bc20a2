import type {
  BudgetAccount,
  BudgetReservation,
  BudgetState,
} from "../../../contracts/budget-accounts.js";
import { LimitStoreError } from "../../../contracts/state-errors.js";
import { preview } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";
import { asFields } from "../../../util/objects.js";

/** A sum of costs that were added and released may differ from 0 by less than this. */
const NOISE = 1e-6;

/** Returns the result of `open`, if it is an account. @throws LimitStoreError */
export function checkedAccount(account: BudgetAccount): BudgetAccount {
  const { reserve, shared } = asFields(account) ?? {};
  if (typeof reserve !== "function") throw noAccount("open() must return an account", account);
  const { leaseMs, renew, refresh } = asFields(shared) ?? {};
  const isLease = typeof leaseMs === "number" && leaseMs > 0;
  const isShared = isLease && typeof renew === "function" && typeof refresh === "function";
  if (shared !== undefined && !isShared)
    throw noAccount("shared must have leaseMs above 0, renew() and refresh()", shared);
  return account;
}

/** Returns the result of `reserve`, if it can be settled. @throws LimitStoreError */
export function checkedReservation(
  given: BudgetReservation | undefined,
): BudgetReservation | undefined {
  if (given !== undefined && typeof asFields(given)?.["settle"] !== "function")
    throw noAccount("reserve() must return a reservation or undefined", given);
  return given;
}

/**
 * Reads the state of an account and checks its amounts. A comparison with any other value would not
 * limit anything.
 * @throws LimitStoreError
 */
export function stateOfAccount(account: BudgetAccount): BudgetState {
  let state: BudgetState;
  try {
    ({ state } = account);
  } catch (cause) {
    throw new LimitStoreError(`The state of a budget account can't be read: ${messageOf(cause)}`, {
      cause,
    });
  }
  const { used, reserved } = asFields(state) ?? {};
  if (isBudgetAmount(used) && isBudgetAmount(reserved)) return state;
  throw noAccount("state must have amounts of tokens and cost, used and reserved", state);
}

function isBudgetAmount(value: unknown): boolean {
  const { tokens, cost } = asFields(value) ?? {};
  return [tokens, cost].every((n) => typeof n === "number" && Number.isFinite(n) && n > -NOISE);
}

function noAccount(rule: string, got: unknown): LimitStoreError {
  return new LimitStoreError(`Tokens.BudgetAccounts: ${rule}, got: ${preview(got)}`);
}
