import type { Plugin } from "../../../contracts/plugin.js";
import type { BudgetOptions } from "./budget-options.js";
import { ValidationError } from "../../../contracts/errors.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { modelNamed } from "../shared/model-named.js";
import { Budget, Budgets } from "./budget.js";
import { BudgetKeeper, BudgetKeeping } from "./budget-keeper.js";
import { resolveBudgetOptions } from "./budget-options.js";
import { LocalBudgetAccounts } from "./local-accounts.js";

export type { BudgetOptions } from "./budget-options.js";

/**
 * Limits the tokens, cost and time of a run. Every run has a separate budget, shared with its
 * delegates and the runs that join it (`parent`). Before each model call, its estimated input and
 * its maximum output are reserved. After the call, the reported usage counts. Concurrent calls
 * therefore can't exceed a limit together. If only the reservations of other calls prevent a call,
 * it waits for them. Every refused or downgraded call emits `budget_exceeded`. The start of the
 * kernel rejects with ValidationError for an unknown provider. A run with `maxCost` and without
 * prices rejects with ValidationError when it begins.
 * @throws ValidationError for an unknown option, a value out of range or one without effect.
 */
export function budget(options: BudgetOptions): Plugin {
  const settings = resolveBudgetOptions(options);
  const limit = new Budget(settings);
  return definePlugin({
    name: "resilience-budget",
    bind(bind) {
      bind.many(Budgets).toConstantValue(limit);
    },
    start(ctx) {
      requireKeeper(() => ctx.get(BudgetKeeping));
      if (settings.downgradeTo !== undefined)
        limit.cheaper = modelNamed(
          "budget downgradeTo",
          settings.downgradeTo,
          ctx.all(Tokens.ChatModelProvider),
        );
    },
  });
}

/** The standard plugin that enforces the budgets of all runs, and of the runs that they join. */
export function standardBudgets(): Plugin {
  const keeper = new BudgetKeeper();
  return definePlugin({
    name: "resilience-budgets",
    bind(bind) {
      bind.single(BudgetKeeping).toConstantValue(keeper);
      bind
        .single(Tokens.BudgetAccounts, { default: true })
        .toConstantValue(new LocalBudgetAccounts());
      bind.single(Tokens.SpendingGuard, { default: true }).toConstantValue(keeper);
    },
    apply({ hooks }) {
      // Runs after the taps that report the usage of earlier executions.
      hooks.beforeRun.tap({ name: "budget", lane: "policy", order: "post" }, (call) =>
        keeper.open(call),
      );
      hooks.afterRun.tap({ name: "budget", lane: "transform" }, (call) => keeper.close(call));
      hooks.beforeLlmCall.tap({ name: "budget", lane: "transform", order: "post" }, (call) =>
        keeper.reserve(call),
      );
      hooks.beforeLlmCall.tap({ name: "budget", lane: "policy", order: "pre" }, (call) =>
        keeper.judge(call),
      );
      hooks.beforeLlmCall.tap({ name: "budget-start", lane: "policy", order: "post" }, (call) =>
        keeper.begin(call),
      );
      // The first tap. A reservation is settled even if a later tap fails.
      hooks.afterLlmCall.tap({ name: "budget", lane: "transform", order: "pre" }, (call) =>
        keeper.settle(call),
      );
    },
  });
}

/**
 * @throws ValidationError on a kernel without the standard plugin, which would ignore the budget.
 */
function requireKeeper(find: () => BudgetKeeper): void {
  try {
    find();
  } catch (cause) {
    throw new ValidationError(
      "budget() needs the standard plugin resilience-budgets, which this kernel does not have",
      {
        cause,
        hint: "Add standardPlugins() to the kernel, or let the Ensemble make it.",
      },
    );
  }
}
