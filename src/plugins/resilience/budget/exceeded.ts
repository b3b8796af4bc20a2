import type { Ev } from "../../../contracts/events.js";
import type { AgentEnsembleError } from "../../../contracts/errors.js";
import type { LlmCall } from "../../../contracts/hooks.js";
import type { Account } from "./account.js";
import type { LimitName } from "./amount.js";
import type { Demand } from "./demand.js";
import { BudgetExceededError } from "../../../contracts/state-errors.js";
import { advance } from "./queue.js";

const UNITS: Readonly<Record<LimitName, string>> = {
  maxTokens: "tokens",
  maxCost: "in cost",
  maxDurationMs: "ms",
};

/**
 * Creates the error of a refused call or a stopped run. Each gets a separate error, because an
 * error contains the output of its run.
 */
export function excess(account: Account, limit: LimitName, demand?: Demand): BudgetExceededError {
  const used = `Budget ${limit} exceeded: ${number(account.used(limit))} of ${number(account.allowed(limit))} ${UNITS[limit]} used`;
  if (limit === "maxDurationMs")
    return new BudgetExceededError(used, limit, {
      hint: "Raise maxDurationMs, or give the run less to do.",
    });
  const { tokens, cost } = account.reserved;
  const reserved = limit === "maxTokens" ? tokens : cost;
  const held = reserved > 0 ? `, ${number(reserved)} reserved for calls in flight` : "";
  const needed =
    demand === undefined
      ? ""
      : `; a call of ${demand.call.agentRole} needs about ${demand.inputTokens} tokens for its input and at least ${demand.least} for its answer`;
  return new BudgetExceededError(`${used}${held}${needed}`, limit, {
    hint: `Raise ${limit}, or shorten prompts and tool outputs.`,
  });
}

/** Emits to the run of the call. If another run has the budget, also emits to that run. */
export function announce(
  call: LlmCall,
  account: Account,
  limit: LimitName,
  action: Ev<"budget_exceeded">["action"],
): void {
  const { run, taskId, parentTaskId, agentRole } = call;
  const event = {
    type: "budget_exceeded" as const,
    taskId,
    ...(parentTaskId !== undefined && { parentTaskId }),
    agentRole,
    limit,
    allowed: account.allowed(limit),
    used: account.used(limit),
    action,
  };
  run.emit(event);
  if (account.owner !== run) account.owner.emit(event);
}

/**
 * Reports a call that is refused, and stops the runs if the budget requires it. Returns the error
 * for the call.
 */
export function exceed(
  call: LlmCall,
  account: Account,
  limit: LimitName,
  demand?: Demand,
): AgentEnsembleError {
  const error = excess(account, limit, demand);
  if (account.closedBy !== undefined) return error;
  const { rejects } = account.limits;
  announce(call, account, limit, rejects ? "reject" : "stop");
  if (rejects) return error;
  account.closedBy = limit;
  for (const run of account.runs) run.stop(excess(account, limit, demand));
  advance([account]);
  return error;
}

/** Formats a cost with at most six decimal places. */
function number(value: number): string {
  return String(Math.round(value * 1e6) / 1e6);
}
