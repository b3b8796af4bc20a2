import type { HookRun } from "./run.js";
import type { Awaitable } from "./types.js";

/** Limits of the spending of others for a run. Absent: no limit. */
export interface SpendingLimits {
  readonly maxTokens?: number | undefined;
  /** In the currency of the run's prices. */
  readonly maxCost?: number | undefined;
}

/** A request of others to spend for a run. Absent limits: as much as is left. */
export interface SpendingRequest extends SpendingLimits {
  /**
   * Milliseconds after which an unsettled grant counts as fully used. Default: at the end of the
   * run.
   */
  readonly timeoutMs?: number | undefined;
}

/** The part of a run's budget reserved for others. Absent limits: the run has none. */
export interface SpendingGrant extends SpendingLimits {
  /**
   * Releases the unused rest and counts the usage. Only the first call counts. Returns a promise
   * only if the budget is kept elsewhere.
   * @throws ValidationError for invalid or negative numbers; the whole grant then counts as used.
   */
  settle(used: { readonly tokens: number; readonly cost?: number | undefined }): Awaitable<void>;
}

/**
 * Grants a part of a run's budget to work elsewhere: another ensemble, a service. Bound to
 * `Tokens.SpendingGuard`.
 */
export interface SpendingGuard {
  /**
   * Reserves a part of the run's budget, and of the budgets of the runs that it joined, until the
   * grant is settled. Grants the requested amount, or the rest if less is left. An unsettled grant
   * counts as fully used at the end of the run. Returns a promise only if the budget is kept
   * elsewhere.
   * @throws BudgetExceededError if nothing is left; ValidationError for a limit that is no number
   * above 0, and after the end of the run; LimitStoreError if the budget is kept elsewhere and
   * can't be reached.
   */
  grant(run: HookRun, request: SpendingRequest): Awaitable<SpendingGrant>;
}
