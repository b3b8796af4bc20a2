import type { CostConfiguration } from "../contracts/cost.js";
import type { UsageRecord } from "../contracts/usage.js";
import { ModelCallError, messageOf } from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";

/** What one call costs, as its usage record keeps it. */
export type Price = Pick<UsageRecord, "cost" | "inputCost" | "outputCost" | "currency">;

const NO_PRICE: Price = Object.freeze({});

/** Failures with which a vendor refuses a request: nothing of it was processed, so nothing of it is charged. */
const REFUSALS: readonly string[] = Object.freeze([
  "AE_MODEL_RATE_LIMITED",
  "AE_MODEL_AUTH",
  "AE_MODEL_BAD_REQUEST",
  "AE_MODEL_QUOTA",
  "AE_MODEL_CONTEXT_LENGTH",
]);

/** Whether a model call failed because the vendor refused it, before it had answered anything. */
export function isRefused(error: unknown): boolean {
  return (
    ModelCallError.isInstance(error) &&
    REFUSALS.includes(error.code) &&
    (error.partialText ?? "") === ""
  );
}

/** The cost of a call by rates or by a function; nothing where its tokens are unknown or the function has no price. @throws what a price function throws. */
export function priceOf(configuration: CostConfiguration, usage: UsageRecord): Price {
  if (typeof configuration === "function") {
    const cost: unknown = configuration(usage);
    if (cost === undefined) return NO_PRICE;
    if (typeof cost !== "number" || !Number.isFinite(cost) || cost < 0)
      throw new Error(`it returned ${preview(cost)}, no number >= 0`);
    return { cost, currency: "USD" };
  }
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  if (inputTokens < 0 || outputTokens < 0) return NO_PRICE;
  const cached = Math.min(Math.max(0, cachedInputTokens), inputTokens);
  const {
    inputTokenRate,
    outputTokenRate,
    cachedInputTokenRate = inputTokenRate,
    currency = "USD",
  } = configuration;
  const inputCost = rounded(
    (inputTokens - cached) * inputTokenRate + cached * cachedInputTokenRate,
  );
  const outputCost = rounded(outputTokens * outputTokenRate);
  return { cost: rounded(inputCost + outputCost), inputCost, outputCost, currency };
}

/** Eight decimals, halves up: enough for any currency, and sums print without noise. */
export function rounded(value: number): number {
  return Math.round(value * 1e8 + 1e-6) / 1e8;
}

/** Prices calls of one run; a price function that fails is reported once and its calls have no price. */
export class Pricing {
  #reported = false;
  constructor(
    readonly configuration: CostConfiguration,
    readonly warn: (message: string) => void,
  ) {}

  priced(usage: UsageRecord): UsageRecord {
    try {
      const price = priceOf(this.configuration, usage);
      return price === NO_PRICE ? usage : { ...usage, ...price };
    } catch (error) {
      if (!this.#reported)
        this.warn(
          `The price function of costConfiguration failed, so calls have no price: ${messageOf(error)}`,
        );
      this.#reported = true;
      return usage;
    }
  }
}
