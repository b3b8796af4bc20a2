import type { CostConfiguration } from "./cost.js";
import type { UsageRecord } from "./usage.js";
import { priceOf } from "./cost.js";
import { messageOf } from "../util/errors.js";

/**
 * Calculates prices of calls in one run. An error of the price function is reported once. The
 * affected calls have no price.
 */
export class Pricing {
  #reported = false;
  constructor(
    readonly configuration: CostConfiguration,
    readonly warn: (message: string) => void,
  ) {}

  priced(usage: UsageRecord): UsageRecord {
    try {
      const price = priceOf(this.configuration, usage);
      return price.cost === undefined ? usage : { ...usage, ...price };
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
