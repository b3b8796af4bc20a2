import type { ModelRef } from "../../../contracts/chat-model.js";
import { checkModel } from "../../../contracts/agent.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireDuration,
  requireInteger,
} from "../../../contracts/validation.js";

/** Options of `budget`. At least one of the three limits is required. */
export interface BudgetOptions {
  /** Limit of the input and output tokens of all model calls of a run. Default: no limit. */
  readonly maxTokens?: number | undefined;
  /**
   * Limit of the cost of all model calls of a run. Its currency is that of the ensemble's
   * `costConfiguration`, which is required. Default: no limit.
   */
  readonly maxCost?: number | undefined;
  /**
   * Time in milliseconds after the start of the run. No call starts after it. Calls in progress may
   * finish. To end them, use `timeoutMs` of the run. Default: no limit.
   */
  readonly maxDurationMs?: number | undefined;
  /**
   * The limit of output tokens of a call if neither its agent nor its task sets `maxOutputTokens`.
   * It applies with `maxTokens` or `maxCost`. It is reserved for the call and sent to the model.
   * Default 4,096, which all common models accept.
   */
  readonly maxOutputTokensPerCall?: number | undefined;
  /**
   * The reaction to a call that would exceed the budget.
   * - `stop` (default): no further work starts. The run fails with BudgetExceededError, which
   *   contains the finished outputs.
   * - `reject`: the call fails, and the run continues.
   * - `downgradeTo`: the call uses this model as long as its cost fits into `maxCost`, and
   *   otherwise behaves as with `stop`. It requires `maxCost` and a price function, which
   *   determines the lower price of the model.
   */
  readonly onExceeded?: "stop" | "reject" | { readonly downgradeTo: ModelRef } | undefined;
}

/** The checked options of a budget, with defaults. */
export interface BudgetSettings {
  readonly maxTokens: number | undefined;
  readonly maxCost: number | undefined;
  readonly maxDurationMs: number | undefined;
  readonly maxOutputTokensPerCall: number;
  readonly rejects: boolean;
  readonly downgradeTo: ModelRef | undefined;
}

const OPTION_NAMES = [
  "maxTokens",
  "maxCost",
  "maxDurationMs",
  "maxOutputTokensPerCall",
  "onExceeded",
];
const DEFAULT_OUTPUT_TOKENS = 4_096;

/**
 * Applies the defaults.
 * @throws ValidationError for an unknown option, a value out of range and an option without effect.
 */
export function resolveBudgetOptions(options: BudgetOptions): BudgetSettings {
  checkOptions("budget", options, OPTION_NAMES);
  const { maxTokens, maxCost, maxDurationMs, maxOutputTokensPerCall } = options;
  requireInteger("budget maxTokens", maxTokens, 1, "an integer > 0");
  if (
    maxCost !== undefined &&
    !(typeof maxCost === "number" && Number.isFinite(maxCost) && maxCost > 0)
  )
    throw new ValidationError(`budget maxCost must be a number > 0, got: ${shownLimit(maxCost)}`);
  requireDuration("budget maxDurationMs", maxDurationMs);
  requireInteger("budget maxOutputTokensPerCall", maxOutputTokensPerCall, 1, "an integer > 0");
  if (maxTokens === undefined && maxCost === undefined && maxDurationMs === undefined)
    throw new ValidationError("budget needs at least one of maxTokens, maxCost, maxDurationMs");
  if (maxOutputTokensPerCall !== undefined && maxTokens === undefined && maxCost === undefined)
    throw new ValidationError(
      "budget maxOutputTokensPerCall has no effect without maxTokens or maxCost",
    );
  const downgradeTo = downgradeOf(options);
  return Object.freeze({
    maxTokens,
    maxCost,
    maxDurationMs,
    maxOutputTokensPerCall: maxOutputTokensPerCall ?? DEFAULT_OUTPUT_TOKENS,
    rejects: options.onExceeded === "reject",
    downgradeTo,
  });
}

function downgradeOf({ onExceeded, maxCost }: BudgetOptions): ModelRef | undefined {
  if (onExceeded === undefined || onExceeded === "stop" || onExceeded === "reject")
    return undefined;
  const given: unknown = onExceeded;
  if (typeof given !== "object" || given === null)
    throw new ValidationError(
      `budget onExceeded must be "stop", "reject" or { downgradeTo: model }, got: ${preview(onExceeded)}`,
    );
  checkOptions("budget onExceeded", onExceeded, ["downgradeTo"]);
  // its value is checked next
  const { downgradeTo } = onExceeded as { readonly downgradeTo?: ModelRef };
  if (downgradeTo === undefined)
    throw new ValidationError("budget onExceeded needs downgradeTo, a model");
  checkModel("budget downgradeTo", downgradeTo);
  if (maxCost === undefined)
    throw new ValidationError("budget downgradeTo needs maxCost", {
      hint: "A cheaper model uses as many tokens and as much time: it saves only cost.",
    });
  return downgradeTo;
}

/** Returns a limit as text. JSON can't represent NaN and Infinity. */
function shownLimit(value: unknown): string {
  return typeof value === "number" ? String(value) : preview(value);
}
