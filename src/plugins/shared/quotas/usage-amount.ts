import type { BudgetAmount } from "../../../contracts/budget-accounts.js";
import type { ForeignUsage, UsageRecord } from "../../../contracts/usage.js";

/** Returns the known tokens and cost of a usage. Cost in another currency is not counted. */
export function usageAmount(
  usage: readonly (ForeignUsage | UsageRecord)[],
  currency: string | undefined,
): BudgetAmount {
  let tokens = 0;
  let cost = 0;
  for (const one of usage) {
    tokens += Math.max(0, one.inputTokens ?? 0) + Math.max(0, one.outputTokens ?? 0);
    if ((one.currency ?? "USD") === currency) cost += one.cost ?? 0;
  }
  return { tokens, cost };
}
