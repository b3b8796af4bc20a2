import type { WorkBudget } from "../../contracts/network-options.js";

/** Returns the lower limits of two budgets. Both must have the same currency. */
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
