import type { UsageRecord } from "./usage.js";
import { ValidationError } from "./errors.js";
import { checkOptions, preview, requireText } from "./validation.js";

/** Prices per token, in `currency`. */
export interface CostRates {
  readonly inputTokenRate: number;
  readonly outputTokenRate: number;
  /** For input tokens that the vendor had cached. Default: `inputTokenRate`. */
  readonly cachedInputTokenRate?: number | undefined;
  /** Default `USD`. */
  readonly currency?: string | undefined;
}

/** Prices: rates for all models, or a function that gives the cost of one call (`undefined` where it has no price). */
export type CostConfiguration = CostRates | ((call: UsageRecord) => number | undefined);

/** What calls cost. Where a function gave the prices, `inputCost` and `outputCost` are 0 and only the total is known. */
export interface CostEstimate {
  readonly inputCost: number;
  readonly outputCost: number;
  readonly totalCost: number;
  readonly currency: string;
}

/** @throws ValidationError for anything but rates of 0 or more, or a function. */
export function checkCostConfiguration(what: string, cost: unknown): void {
  if (cost === undefined || typeof cost === "function") return;
  checkOptions(what, cost, [
    "inputTokenRate",
    "outputTokenRate",
    "cachedInputTokenRate",
    "currency",
  ]);
  const rates = cost as CostRates; // its fields are checked next
  for (const name of ["inputTokenRate", "outputTokenRate", "cachedInputTokenRate"] as const) {
    const rate = rates[name];
    if (name === "cachedInputTokenRate" && rate === undefined) continue;
    if (typeof rate !== "number" || !Number.isFinite(rate) || rate < 0)
      throw new ValidationError(`${what} ${name} must be a number >= 0, got: ${preview(rate)}`, {
        hint: "Rates are per token: 0.15 per million is 0.15e-6.",
      });
  }
  if (rates.currency !== undefined)
    requireText(rates.currency, `${what} currency must not be blank when set`);
}
