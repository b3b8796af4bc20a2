import type { BudgetAmount } from "../../contracts/budget-accounts.js";
import type { WorkBudget } from "../../contracts/network-options.js";
import type { ForeignUsage } from "../../contracts/usage.js";

/** Tokens and cost of a usage, as far as they are known. Cost in another currency is not counted. */
export function usageAmount(
  usage: readonly ForeignUsage[],
  currency: string | undefined,
): BudgetAmount {
  let tokens = 0;
  let cost = 0;
  for (const one of usage) {
    tokens += (one.inputTokens ?? 0) + (one.outputTokens ?? 0);
    if ((one.currency ?? "USD") === currency) cost += one.cost ?? 0;
  }
  return { tokens, cost };
}

/** The tighter limits of two budgets. Their costs have one currency. */
export function tighterBudget(
  one: WorkBudget | undefined,
  other: WorkBudget | undefined,
): WorkBudget | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const maxTokens = least(one.maxTokens, other.maxTokens);
  const maxCost = least(one.maxCost, other.maxCost);
  const currency = one.currency ?? other.currency;
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxCost !== undefined && { maxCost }),
    ...(currency !== undefined && { currency }),
  };
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
