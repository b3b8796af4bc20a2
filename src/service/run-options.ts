import type { WorkBudget } from "../contracts/network-options.js";
import type { WorkRequest } from "../contracts/network.js";
import type { EnsembleListener } from "../contracts/events.js";
import type { OutsideAccess, OutsideCall } from "../contracts/outside.js";
import type { BindApi } from "../contracts/plugin.js";
import type { RunOptions } from "../contracts/run.js";
import { ValidationError } from "../contracts/errors.js";
import { runValue } from "../contracts/run-value.js";
import { Tokens } from "../contracts/tokens.js";
import { REQUEST_PATH } from "../plugins/network/shared/request-path.js";
import { tighterBudget } from "./quotas/tighter-budget.js";
import { runBudget } from "../plugins/resilience/budget/run-budget.js";

/** The options of the run of a request, except its inputs. */
export interface RequestRun {
  readonly signal: AbortSignal;
  readonly timeoutMs: number | undefined;
  /** The currency of the ensemble's prices. `undefined` without prices. */
  readonly currency: string | undefined;
  readonly listener: EnsembleListener;
  /** The rest of the caller's quota. */
  readonly left?: WorkBudget | undefined;
}

/**
 * Returns the options of the run of a request.
 *
 * @throws ValidationError about the inputs for a budget that can't be enforced here.
 */
export function requestRunOptions(request: WorkRequest, run: RequestRun): RunOptions {
  const { requestId, from, priority, path = [] } = request;
  const { signal, timeoutMs, listener } = run;
  if (request.budget !== undefined) requireCurrency(request.budget, run.currency);
  const budget = tighterBudget(request.budget, run.left);
  const limits = budget === undefined ? undefined : budgetOf(budget);
  const bindings = request.reviews === "forward" ? answeredElsewhere(limits) : limits;
  return {
    runId: requestId,
    signal,
    tags: { "network.from": from, "network.request": requestId },
    listeners: [listener],
    values: [runValue(REQUEST_PATH, path)],
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(priority !== undefined && { priority }),
    ...(bindings !== undefined && { bindings }),
  };
}

/**
 * Marks that the caller answers reviews. The run may then ask without a reviewer in this process.
 */
const REMOTE_REVIEWER: OutsideAccess = Object.freeze({
  access: <T>(_call: OutsideCall<T>, work: () => Promise<T>) => work(),
  decidesReviews: () => true,
});

function answeredElsewhere(
  bindings: ((bind: BindApi) => void) | undefined,
): (bind: BindApi) => void {
  return (bind) => {
    bindings?.(bind);
    bind.many(Tokens.OutsideAccess).toConstantValue(REMOTE_REVIEWER);
  };
}

/**
 * @throws ValidationError for a limit of the cost in a currency other than the currency of the
 * prices.
 */
function requireCurrency({ maxCost, currency = "USD" }: WorkBudget, own: string | undefined): void {
  if (maxCost === undefined || currency === own) return;
  throw new ValidationError(
    own === undefined
      ? "The budget limits the cost, but this ensemble has no prices"
      : `The budget limits the cost in ${currency}, and this ensemble's prices are in ${own}`,
    { about: "inputs" },
  );
}

function budgetOf({ maxTokens, maxCost }: WorkBudget): ((bind: BindApi) => void) | undefined {
  if (maxTokens === undefined && maxCost === undefined) return undefined;
  try {
    return runBudget({ maxTokens, maxCost });
  } catch (cause) {
    throw new ValidationError("The budget of the request is invalid", { cause, about: "inputs" });
  }
}
