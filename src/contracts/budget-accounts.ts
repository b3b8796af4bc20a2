import type { Awaitable } from "./types.js";

/** Tokens, and their cost in the currency of the run's prices. Finite numbers of at least 0. */
export interface BudgetAmount {
  readonly tokens: number;
  readonly cost: number;
}

/** What an account contains, of all processes that use it. */
export interface BudgetState {
  readonly used: BudgetAmount;
  /** For calls in flight and for grants. */
  readonly reserved: BudgetAmount;
}

/** The account that a run opens for one of its budgets. */
export interface BudgetAccountRequest {
  /** Names the account, the same in every process and in a resumed run: `run:{id of the run that has the budget}/budget:{position among its budgets}`. */
  readonly key: string;
  /** Absent: no limit. */
  readonly maxTokens?: number | undefined;
  /** Absent: no limit. Includes an allowance for the rounding of sums. */
  readonly maxCost?: number | undefined;
  /** What earlier executions of the run used, as far as the run knows. */
  readonly earlier: BudgetAmount;
}

/** A part of an account that is reserved until it is settled. */
export interface BudgetReservation {
  /**
   * Gives the rest back and counts what was used, which may be more than was reserved. Counts once, also where it is called again after a failure, and
   * also after the lease has ended.
   */
  settle(used: BudgetAmount): Awaitable<void>;
}

/** What an account has that several processes use. */
export interface SharedBudget {
  /** After so many milliseconds a reservation that was neither settled nor renewed is given back: its process has died. */
  readonly leaseMs: number;
  /** Begins the leases of these reservations again. Leaves out those that have ended. Called every third of `leaseMs` while one is open. */
  renew(reservations: readonly BudgetReservation[]): Awaitable<void>;
  /** Reads the state. Called every 250 ms, by the run's clock, while a call waits for what others have reserved. */
  refresh(): Awaitable<void>;
}

/** Counts what one run and the runs that joined it use of one budget. */
export interface BudgetAccount {
  /** As last read: with each answer of `open`, `reserve`, `settle` and `refresh`. */
  readonly state: BudgetState;
  /** Present on an account that others than this process use. */
  readonly shared?: SharedBudget | undefined;
  /**
   * Reserves the amount in one step if it fits under the limits together with what is used and reserved. Returns `undefined` if it does not; then `state` shows
   * why. A promise only where the account is kept elsewhere.
   */
  reserve(amount: BudgetAmount): Awaitable<BudgetReservation | undefined>;
}

/**
 * Opens the accounts of budgets. Bound to `Tokens.BudgetAccounts`. What to do with a call that does not fit stays with the run. What a method throws, or
 * does not answer in time, fails the call with LimitStoreError, and no model is called; so does an answer that is no account, no reservation, or a state
 * without amounts.
 */
export interface BudgetAccounts {
  /** How long an answer of a method may take, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Opens the account of this name. An account that exists keeps its state; of `used` and `earlier` the greater counts, for tokens and for cost. The
   * limits are those of the request.
   */
  open(request: BudgetAccountRequest): Awaitable<BudgetAccount>;
}
