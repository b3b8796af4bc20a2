import type { BudgetAmount } from "../../../contracts/budget-accounts.js";

/** The option that a call would exceed. */
export type LimitName = "maxTokens" | "maxCost" | "maxDurationMs";

export const NOTHING: BudgetAmount = Object.freeze({ tokens: 0, cost: 0 });

export function plus(a: BudgetAmount, b: BudgetAmount): BudgetAmount {
  return { tokens: a.tokens + b.tokens, cost: a.cost + b.cost };
}

export function minus(a: BudgetAmount, b: BudgetAmount): BudgetAmount {
  return { tokens: a.tokens - b.tokens, cost: a.cost - b.cost };
}
