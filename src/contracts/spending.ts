import type { HookRun } from "./run.js";

/** What somebody else is to spend for a run: at most, absent for as much as there is. */
export interface SpendingRequest {
  readonly maxTokens?: number | undefined;
  /** In the currency of the run's prices. */
  readonly maxCost?: number | undefined;
}

/** What a run sets aside for somebody else. Absent limits: the run has none. */
export interface SpendingGrant extends SpendingRequest {
  /**
   * Gives the rest back and counts what was used. Only the first call counts.
   * @throws ValidationError for numbers that are none or below 0; all that was set aside then counts as used.
   */
  settle(used: { readonly tokens: number; readonly cost?: number | undefined }): void;
}

/** Grants a part of a run's budget to what works for it elsewhere: another ensemble, a service. Bound to `Tokens.SpendingGuard`. */
export interface SpendingGuard {
  /**
   * Sets a part of the run's budget aside, and of the budgets of the runs that it joined, until the grant is settled: as much as is asked for, or less
   * where less is left. @throws BudgetExceededError where nothing is left; ValidationError for a limit that is no number above 0.
   */
  grant(run: HookRun, request: SpendingRequest): SpendingGrant;
}
