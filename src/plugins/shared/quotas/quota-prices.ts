import type { CostConfiguration } from "../../../contracts/cost.js";
import type { CallerQuota } from "../../../contracts/queue-options.js";
import { ValidationError } from "../../../contracts/errors.js";

/** Returns the currency of prices; `undefined` without prices. */
export function priceCurrency(prices: CostConfiguration | undefined): string | undefined {
  if (prices === undefined) return undefined;
  return typeof prices === "function" ? "USD" : (prices.currency ?? "USD");
}

/** @throws ValidationError for a limit of the cost without prices. */
export function requirePrices(
  quota: CallerQuota | undefined,
  currency: string | undefined,
  owner: "ensemble" | "conversation",
): void {
  if (quota?.maxCost === undefined || currency !== undefined) return;
  throw new ValidationError(`A quota limits the cost, but this ${owner} has no prices`, {
    hint: `Set costConfiguration of the ${owner}, or maxTokens instead of maxCost.`,
  });
}
