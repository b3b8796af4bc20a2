import type { Awaitable } from "./types.js";

/**
 * A number of tokens, and their cost in the currency of the run's prices. Both are finite numbers
 * of at least 0.
 */
export interface BudgetAmount {
  readonly tokens: number;
  readonly cost: number;
}

/** The state of an account, summed over all processes that use the account. */
export interface BudgetState {
  readonly used: BudgetAmount;
  /** The amount reserved for calls in progress and for grants. */
  readonly reserved: BudgetAmount;
}

/** The account that a run opens for one of its budgets. */
export interface BudgetAccountRequest {
  /**
   * The name of the account: `run:{id of the run that has the budget}/budget:{position among its
   * budgets}`. Equal in every process and in a resumed run.
   */
  readonly key: string;
  /** Absent: no limit. */
  readonly maxTokens?: number | undefined;
  /** Absent: no limit. Includes a small allowance for rounding errors of sums. */
  readonly maxCost?: number | undefined;
  /** The usage of earlier executions of this run. */
  readonly earlier: BudgetAmount;
}

/** A part of an account, reserved until `settle` is called. */
export interface BudgetReservation {
  /**
   * Counts the used amount and releases the rest. The used amount may exceed the reservation.
   * Further calls have no effect, even after a failure or after the end of the lease.
   */
  settle(used: BudgetAmount): Awaitable<void>;
}

/** The additional members of an account that several processes use. */
export interface SharedBudget {
  /**
   * The lease of a reservation in milliseconds. A reservation that is not settled or renewed in
   * this time is released: its process has ended.
   */
  readonly leaseMs: number;
  /**
   * Renews the leases of these reservations. Skips expired reservations. Called every `leaseMs / 3`
   * while a reservation is open.
   */
  renew(reservations: readonly BudgetReservation[]): Awaitable<void>;
  /**
   * Reads the state. Called every 250 ms, by the run's clock, while a call waits for reservations
   * of other processes.
   */
  refresh(): Awaitable<void>;
}

/** Counts the usage of one budget by a run and the runs that joined it. */
export interface BudgetAccount {
  /** The last known state. `open`, `reserve`, `settle` and `refresh` update it. */
  readonly state: BudgetState;
  /** Present if several processes use the account. */
  readonly shared?: SharedBudget | undefined;
  /**
   * Reserves the amount atomically if the limits allow it. Otherwise returns `undefined`; `state`
   * contains the reason. Returns a promise only if the account is remote.
   */
  reserve(amount: BudgetAmount): Awaitable<BudgetReservation | undefined>;
}

/**
 * Opens the accounts of budgets. Bound to `Tokens.BudgetAccounts`. The run decides about a call
 * that does not fit. A method fails if it throws, times out or returns an invalid value. If `open`
 * fails, the run fails with LimitStoreError. If `reserve` or `refresh` fails, the call fails with
 * this error, and no model is called. A failed `settle` is repeated before the next call.
 */
export interface BudgetAccounts {
  /** Time limit of each method, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Opens the account with this key. An existing account keeps its state. The greater of `used` and
   * `earlier` counts, separately for tokens and cost. The limits of the request apply.
   */
  open(request: BudgetAccountRequest): Awaitable<BudgetAccount>;
}
