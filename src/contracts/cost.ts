import type { UsageRecord } from "./usage.js";
import { ModelCallError, ValidationError } from "./errors.js";
import { checkOptions, preview, requireText } from "./validation.js";
import { rounded } from "../util/objects.js";

/** Prices per token, in `currency`. */
export interface CostRates {
  readonly inputTokenRate: number;
  readonly outputTokenRate: number;
  /** Rate of input tokens that the vendor had cached. Default: `inputTokenRate`. */
  readonly cachedInputTokenRate?: number | undefined;
  /** Default `USD`. */
  readonly currency?: string | undefined;
}

/**
 * Prices: rates that apply to all models, or a function that returns the cost of one call. The
 * function returns `undefined` for an unknown price.
 */
export type CostConfiguration = CostRates | ((call: UsageRecord) => number | undefined);

/**
 * The cost of calls: the sum over all calls with a known price. If a function returned the prices,
 * only the total is known. `inputCost` and `outputCost` are 0 then.
 */
export interface CostEstimate {
  readonly inputCost: number;
  readonly outputCost: number;
  readonly totalCost: number;
  readonly currency: string;
  /**
   * Number of calls without a known price. The actual cost then exceeds `totalCost`. Missing if
   * every call has a price.
   */
  readonly unpricedCalls?: number;
}

/**
 * Checks prices.
 * @throws ValidationError unless `cost` is a function or an object of rates that are 0 or more.
 */
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

/**
 * Rounds a cost to eight decimals. Eight decimals suffice for any currency and remove rounding
 * noise from totals.
 */
export function roundedCost(value: number): number {
  return rounded(value, 8);
}

/** The cost of one call, as its usage record keeps it. */
export type Price = Pick<UsageRecord, "cost" | "inputCost" | "outputCost" | "currency">;

const NO_PRICE: Price = Object.freeze({});

/**
 * Failures of calls that the vendor refused before processing. The vendor charges nothing for these
 * calls.
 */
const REFUSALS: readonly string[] = Object.freeze([
  "AE_MODEL_RATE_LIMITED",
  "AE_MODEL_AUTH",
  "AE_MODEL_BAD_REQUEST",
  "AE_MODEL_UNSUPPORTED_INPUT",
  "AE_MODEL_QUOTA",
  "AE_MODEL_CONTEXT_LENGTH",
]);

/**
 * Returns whether a model call failed because the vendor refused the request before processing. The
 * vendor charges nothing for such a call.
 */
export function isRefused(error: unknown): boolean {
  return (
    ModelCallError.isInstance(error) &&
    REFUSALS.includes(error.code) &&
    (error.partialText ?? "") === ""
  );
}

/**
 * Returns the cost of a call by rates or by a function, as the ledger counts it. Returns no fields
 * if the tokens of the call are unknown or the function returns no price.
 * @throws the error of a price function; Error for a price that is not a number of at least 0.
 */
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
  const inputCost = roundedCost(
    (inputTokens - cached) * inputTokenRate + cached * cachedInputTokenRate,
  );
  const outputCost = roundedCost(outputTokens * outputTokenRate);
  return { cost: roundedCost(inputCost + outputCost), inputCost, outputCost, currency };
}
