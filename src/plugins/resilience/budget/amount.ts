/** The option that a call would exceed. */
export type LimitName = "maxTokens" | "maxCost" | "maxDurationMs";

/** Tokens and their cost. */
export interface Amount {
  readonly tokens: number;
  readonly cost: number;
}

export const NOTHING: Amount = Object.freeze({ tokens: 0, cost: 0 });
