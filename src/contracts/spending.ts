import type { HookRun } from "./run.js";
import type { Awaitable } from "./types.js";

/** Limits of a spending outside of the run. Absent: no limit. */
export interface SpendingLimits {
  readonly maxTokens?: number | undefined;
  /** Limit of the cost, in the currency of the run's prices. */
  readonly maxCost?: number | undefined;
}

/**
 * A request to spend a part of a run's budget outside of the run. Without limits, requests the
 * whole rest of the budget.
 */
export interface SpendingRequest extends SpendingLimits {
  /**
   * Time in milliseconds after which an unsettled grant counts as fully used. Default: until the
   * end of the run.
   */
  readonly timeoutMs?: number | undefined;
}

/** The reserved part of a run's budget. A limit is absent if the run has no such limit. */
export interface SpendingGrant extends SpendingLimits {
  /**
   * Counts the usage and releases the unused rest. Only the first call has an effect. Returns a
   * promise only if the budget is kept in another process.
   *
   * @throws ValidationError for invalid or negative numbers. The whole grant then counts as used.
   */
  settle(used: { readonly tokens: number; readonly cost?: number | undefined }): Awaitable<void>;
}

/**
 * Grants a part of a run's budget to work outside of the run: another ensemble, a service. Bound to
 * `Tokens.SpendingGuard`.
 */
export interface SpendingGuard {
  /**
   * Reserves a part of the run's budget until the grant is settled. Also reserves it in the budgets
   * of the runs that this run joined. Grants the requested amount, or the rest of the budget if the
   * rest is smaller. A grant that is unsettled at the end of the run counts as fully used. Returns
   * a promise only if the budget is kept in another process.
   *
   * @throws BudgetExceededError if nothing is left; ValidationError for a limit that is not a
   * number above 0, and after the end of the run; LimitStoreError if the budget is kept in another
   * process that can't be reached.
   */
  grant(run: HookRun, request: SpendingRequest): Awaitable<SpendingGrant>;
}
