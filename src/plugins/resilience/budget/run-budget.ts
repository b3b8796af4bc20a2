import type { BindApi } from "../../../contracts/plugin.js";
import type { BudgetOptions } from "./budget-options.js";
import { Budget, Budgets } from "./budget.js";
import { resolveBudgetOptions } from "./budget-options.js";

/**
 * Limits one run, as `budget()` limits each run of a kernel. Returns `bindings` of the run.
 * @throws ValidationError as `budget()`.
 */
export function runBudget(options: BudgetOptions): (bind: BindApi) => void {
  const limit = new Budget(resolveBudgetOptions(options));
  return (bind) => void bind.many(Budgets).toConstantValue(limit);
}
