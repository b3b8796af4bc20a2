import type { WorkBudget } from "../../../contracts/network-options.js";
import type { WorkResponse } from "../../../contracts/network.js";
import type { TaskScope } from "../../../contracts/run.js";
import type { SpendingGrant } from "../../../contracts/spending.js";
import type { ForeignUsage } from "../../../contracts/usage.js";
import { ValidationError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { messageOf } from "../../../util/errors.js";

const USD = "USD";

/** The part of a run's budget that a request may use. */
export interface WorkGrant {
  /** The limits of the request. `undefined` without limits. */
  readonly budget: WorkBudget | undefined;
  /**
   * Counts the usage in the budget and in the totals of the run. Without a response, counts the
   * complete reservation.
   */
  settle(response: WorkResponse | undefined): Promise<void>;
}

/**
 * Reserves the maximum usage of a request.
 * @throws BudgetExceededError if nothing is left. ValidationError for a limit of the cost in a
 * currency other than that of the run's prices.
 */
export async function grantFor(
  scope: TaskScope,
  asked: WorkBudget = {},
  timeoutMs: number,
): Promise<WorkGrant> {
  const { maxTokens, maxCost } = asked;
  const currency = pricesCurrency(scope) ?? USD;
  if (maxCost !== undefined && (asked.currency ?? USD) !== currency)
    throw new ValidationError(
      `budget.currency must be that of the run's prices, ${currency}, got: ${asked.currency ?? USD}`,
    );
  const guard = scope.find(Tokens.SpendingGuard);
  const grant = await guard?.grant(scope.run, {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxCost !== undefined && { maxCost }),
    timeoutMs: Math.min(2 * timeoutMs, 2_147_483_647), // a background request may end later
  });
  const limits: Pick<WorkBudget, "maxTokens" | "maxCost"> = grant ?? asked;
  return {
    budget: requestBudget(limits, currency),
    settle: (response) => settleGrant(scope, { grant, limits, currency }, response),
  };
}

function pricesCurrency(scope: TaskScope): string | undefined {
  const prices = scope.find(Tokens.CostConfiguration);
  if (prices === undefined || typeof prices === "function") return undefined;
  return prices.currency;
}

function requestBudget(
  { maxTokens, maxCost }: Pick<WorkBudget, "maxTokens" | "maxCost">,
  currency: string,
): WorkBudget | undefined {
  if (maxTokens === undefined && maxCost === undefined) return undefined;
  return {
    ...(maxTokens !== undefined && { maxTokens: Math.max(1, Math.floor(maxTokens)) }),
    ...(maxCost !== undefined && { maxCost, currency }),
  };
}

interface OpenGrant {
  readonly grant: SpendingGrant | undefined;
  readonly limits: Pick<WorkBudget, "maxTokens" | "maxCost">;
  readonly currency: string;
}

async function settleGrant(
  scope: TaskScope,
  { grant, limits, currency }: OpenGrant,
  response: WorkResponse | undefined,
): Promise<void> {
  const usage = response?.usage ?? [];
  try {
    if (response === undefined)
      await grant?.settle({ tokens: limits.maxTokens ?? 0, cost: limits.maxCost });
    else await grant?.settle({ tokens: tokensIn(usage), cost: costIn(usage, currency) });
    if (usage.length > 0) scope.recordMetrics({ usage });
  } catch (error) {
    scope.emit({
      type: "run_warning",
      message: `The usage of request '${response?.requestId ?? ""}' can't be counted: ${messageOf(error)}`,
    });
  }
}

function tokensIn(usage: readonly ForeignUsage[]): number {
  return usage.reduce(
    (sum, { inputTokens = 0, outputTokens = 0 }) =>
      sum + Math.max(0, inputTokens) + Math.max(0, outputTokens),
    0,
  );
}

function costIn(usage: readonly ForeignUsage[], own: string): number {
  return usage.reduce(
    (sum, { cost = 0, currency = USD }) => sum + (currency === own ? cost : 0),
    0,
  );
}
