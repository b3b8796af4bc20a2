import type { CostConfiguration } from "../../../contracts/cost.js";
import type { UsageRecord } from "../../../contracts/usage.js";
import { ValidationError } from "../../../contracts/errors.js";
import { priceOf } from "../../../contracts/cost.js";
import { messageOf } from "../../../util/errors.js";

/** Costs are rounded sums of fractions. Smaller differences are ignored. */
const TOLERANCE = 1e-9;

/**
 * Returns the cost of a call.
 * @throws ValidationError for an unknown price, because a limit of the cost can't be enforced for
 * such a call.
 */
export function pricedCost(prices: CostConfiguration, usage: UsageRecord): number {
  const hint =
    "With budget maxCost the price function must return a number >= 0 for every model that is called.";
  const model = `'${usage.provider}:${usage.modelId}'`;
  let cost: number | undefined;
  try {
    cost = priceOf(prices, usage).cost;
  } catch (error) {
    throw new ValidationError(
      `The price function of costConfiguration failed for model ${model}, so the call was not made: ${messageOf(error)}`,
      {
        cause: error,
        hint,
      },
    );
  }
  if (cost === undefined)
    throw new ValidationError(
      `costConfiguration has no price for model ${model}, so the call was not made`,
      { hint },
    );
  return cost;
}

/**
 * Returns the largest number of tokens, up to `wanted`, that costs at most `left`. Returns -1 if
 * zero tokens cost more. Prices increase with the tokens.
 */
export function greatestWithin(
  left: number,
  wanted: number,
  cost: (tokens: number) => number,
): number {
  const fits = (tokens: number): boolean => cost(tokens) <= left + TOLERANCE;
  if (fits(wanted)) return wanted;
  if (!fits(0)) return -1;
  let [low, high] = [0, wanted]; // `low` fits, `high` does not
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}
