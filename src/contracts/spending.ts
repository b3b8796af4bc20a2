import type { HookRun } from "./run.js";
import type { Awaitable } from "./types.js";

/** Limits of what others spend for a run. Absent: as much as there is. */
export interface SpendingLimits {
  readonly maxTokens?: number | undefined;
  /** In the currency of the run's prices. */
  readonly maxCost?: number | undefined;
}

/** What somebody else is to spend for a run: at most, absent for as much as there is. */
export interface SpendingRequest extends SpendingLimits {
  /** After so many milliseconds a grant that is not settled counts as used in full. Default: at the end of the run. */
  readonly timeoutMs?: number | undefined;
}

/** What a run sets aside for somebody else. Absent limits: the run has none. */
export interface SpendingGrant extends SpendingLimits {
  /**
   * Gives the rest back and counts what was used. Only the first call counts. A promise only where the budget is kept elsewhere.
   * @throws ValidationError for numbers that are none or below 0; all that was set aside then counts as used.
   */
  settle(used: { readonly tokens: number; readonly cost?: number | undefined }): Awaitable<void>;
}

/** Grants a part of a run's budget to what works for it elsewhere: another ensemble, a service. Bound to `Tokens.SpendingGuard`. */
export interface SpendingGuard {
  /**
   * Sets a part of the run's budget aside, and of the budgets of the runs that it joined, until the grant is settled: as much as is asked for, or less
   * where less is left. What is not settled when the run ends counts as used in full. A promise only where the budget is kept elsewhere.
   * @throws BudgetExceededError where nothing is left; ValidationError for a limit that is no number above 0, and after the end of the run; LimitStoreError
   * where the budget is kept elsewhere and can't be reached.
   */
  grant(run: HookRun, request: SpendingRequest): Awaitable<SpendingGrant>;
}
