import type { ChatModel } from "../../../contracts/chat-model.js";
import type { BudgetAmount } from "../../../contracts/budget-accounts.js";
import type { HookRun } from "../../../contracts/run.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { BudgetSettings } from "./budget-options.js";
import { ValidationError } from "../../../contracts/errors.js";
import { requireUsable } from "../../../contracts/model-check.js";
import { Tokens } from "../../../contracts/tokens.js";
import { createToken } from "../../../contracts/token.js";
import { isLater, passOn } from "../../../util/awaitable.js";
import { storeAnswer } from "../shared/store-answer.js";
import { Account } from "./account.js";
import { NOTHING, plus } from "./amount.js";
import { LocalBudgetAccount } from "./local-accounts.js";
import { StoredAccount } from "./stored-account.js";

/** Sums of the same costs in another order differ by less than this. */
const ROUNDING = 2e-9;

/**
 * A limit for each run of a kernel. It contains its accounts. Runs of other kernels that join one
 * of these runs can find them.
 */
export class Budget {
  /** Set at the start of the kernel. */
  cheaper: ChatModel | undefined;
  readonly #accounts = new WeakMap<HookRun, Awaitable<Account>>();

  constructor(readonly settings: BudgetSettings) {}

  /**
   * Returns the account of a run with this budget at `position`. The account is opened with the
   * run. Returns a promise only for external storage.
   * @throws ValidationError for a limit that can't be enforced without prices; LimitStoreError.
   */
  accountOf(run: HookRun, position: number): Awaitable<Account> {
    const known = this.#accounts.get(run);
    if (known !== undefined) return known;
    const opened = this.#open(run, position);
    this.#accounts.set(run, opened);
    if (isLater(opened))
      opened.then(
        (account) => this.#accounts.set(run, account),
        () => undefined, // the callers receive the error
      );
    return opened;
  }

  #open(run: HookRun, position: number): Awaitable<Account> {
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
        "budget downgradeTo needs prices of each model, but costConfiguration has the same rates for all models",
        {
          hint: "Make costConfiguration a function of the call: it receives provider and modelId.",
        },
      );
    if (this.cheaper !== undefined)
      requireUsable("budget downgradeTo", this.cheaper, run.find(Tokens.ModelCheck));
    const costPrices = this.settings.maxCost === undefined ? undefined : prices;
    return passOn(this.#store(run, position), (store) => {
      const { settings: limits, cheaper } = this;
      return new Account({
        limits,
        cheaper,
        owner: run,
        costPrices,
        clock: run.get(Tokens.Clock),
        store,
      });
    });
  }

  /** Returns the storage of the account. A limit of time alone needs none. */
  #store(run: HookRun, position: number): Awaitable<StoredAccount> {
    const { maxTokens, maxCost } = this.settings;
    const owner = run.parent === undefined ? run.find(BudgetOwner) : undefined;
    const request = {
      key: `run:${owner ?? run.id}/budget:${position}`,
      maxTokens,
      maxCost: maxCost === undefined ? undefined : maxCost * (1 + ROUNDING) + ROUNDING,
      earlier: earlierAmount(run),
    };
    const warn = (message: string): void => run.warn(message);
    if (maxTokens === undefined && maxCost === undefined)
      return new StoredAccount(new LocalBudgetAccount(request), { timeoutMs: undefined, warn });
    const accounts = run.get(Tokens.BudgetAccounts);
    const { timeoutMs } = accounts;
    const opened = storeAnswer(() => accounts.open(request), {
      what: "Tokens.BudgetAccounts",
      timeoutMs,
    });
    return passOn(opened, (account) => new StoredAccount(account, { timeoutMs, warn }));
  }
}

function earlierAmount({ earlierUsage }: HookRun): BudgetAmount {
  let sum = NOTHING;
  for (const { inputTokens, outputTokens, cost = 0 } of earlierUsage)
    sum = plus(sum, { tokens: Math.max(0, inputTokens) + Math.max(0, outputTokens), cost });
  return sum;
}

/**
 * The id of the run whose accounts the budgets of this run use. Default: the id of this run. It
 * does not apply to runs that join this one.
 */
export const BudgetOwner = createToken<string>("resilience/BudgetOwner");

/** The budgets of a run for their keepers. Private to this plugin. */
export const Budgets = createToken<Budget>("resilience/Budgets", "many");
