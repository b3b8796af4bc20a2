import type { ChatModel } from "../../../contracts/chat-model.js";
import type { HookRun } from "../../../contracts/run.js";
import type { BudgetSettings } from "./budget-options.js";
import { ValidationError } from "../../../contracts/errors.js";
import { requireUsable } from "../../../contracts/model-check.js";
import { Tokens } from "../../../contracts/tokens.js";
import { createToken } from "../../../contracts/token.js";
import { Account } from "./account.js";

/** A limit that every run of a kernel has for itself. Its accounts lie in it, so that runs of other kernels that join one of these runs find them. */
export class Budget {
  /** Known once the kernel has started. */
  cheaper: ChatModel | undefined;
  readonly #accounts = new WeakMap<HookRun, Account>();

  constructor(readonly settings: BudgetSettings) {}

  /** The account of a run that has this budget, opened with the run. @throws ValidationError for a limit that can't be kept without prices. */
  accountOf(run: HookRun): Account {
    let account = this.#accounts.get(run);
    if (account === undefined) this.#accounts.set(run, (account = this.#open(run)));
    return account;
  }

  #open(run: HookRun): Account {
    const prices = run.find(Tokens.CostConfiguration);
    if (this.settings.maxCost !== undefined && prices === undefined)
      throw new ValidationError(
        "budget maxCost needs prices, and the ensemble has no costConfiguration",
        {
          hint: "Set costConfiguration on the ensemble, or limit maxTokens instead.",
        },
      );
    if (this.cheaper !== undefined && typeof prices !== "function")
      throw new ValidationError(
        "budget downgradeTo needs prices of each model, but costConfiguration gives the same rates to all",
        {
          hint: "Make costConfiguration a function of the call: it sees provider and modelId.",
        },
      );
    if (this.cheaper !== undefined)
      requireUsable("budget downgradeTo", this.cheaper, run.find(Tokens.ModelCheck));
    const account = new Account({
      limits: this.settings,
      cheaper: this.cheaper,
      owner: run,
      costPrices: this.settings.maxCost === undefined ? undefined : prices,
      clock: run.get(Tokens.Clock),
    });
    for (const usage of run.earlierUsage) account.charge(usage);
    return account;
  }
}

/** How budgets are found by whoever keeps them; private to this plugin. */
export const Budgets = createToken<Budget>("resilience/Budgets", "many");
