import type { CostEstimate } from "../../../contracts/cost.js";

/**
 * Formats a cost for people: `$0.0042`, `12.5 credits`. Returns `unknown` without a cost. Small
 * amounts keep two significant digits. `at least` precedes a sum that omits calls.
 */
export function formatCost(cost: CostEstimate | undefined): string {
  if (cost === undefined) return "unknown";
  const { totalCost, currency, unpricedCalls = 0 } = cost;
  const digits =
    totalCost > 0 && totalCost < 0.1 ? Math.min(8, 1 - Math.floor(Math.log10(totalCost))) : 2;
  const fraction = { minimumFractionDigits: Math.min(2, digits), maximumFractionDigits: digits };
  const amount = /^[A-Z]{3}$/.test(currency)
    ? new Intl.NumberFormat("en-US", { style: "currency", currency, ...fraction }).format(totalCost)
    : `${new Intl.NumberFormat("en-US", fraction).format(totalCost)} ${currency}`;
  return unpricedCalls > 0 ? `at least ${amount}` : amount;
}
