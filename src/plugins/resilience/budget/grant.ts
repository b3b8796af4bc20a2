import type { HookRun } from "../../../contracts/run.js";
import type { SpendingGrant, SpendingRequest } from "../../../contracts/spending.js";
import type { Account } from "./account.js";
import type { Amount, LimitName } from "./amount.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireInteger } from "../../../contracts/validation.js";
import { excess } from "./exceeded.js";

/** @throws ValidationError */
export function checkSpending(request: SpendingRequest): void {
  checkOptions("grant()", request, ["maxTokens", "maxCost"]);
  requireInteger("grant() maxTokens", request.maxTokens, 1);
  const { maxCost } = request;
  if (maxCost !== undefined && !(Number.isFinite(maxCost) && maxCost > 0))
    throw new ValidationError(`grant() maxCost must be a number > 0, got: ${preview(maxCost)}`);
}

function isAmount(used: unknown): boolean {
  return typeof used === "number" && Number.isFinite(used) && used >= 0;
}

/** What is left of a limit under all accounts, at most what is asked for. @throws BudgetExceededError where nothing is. */
function leftOf(
  accounts: readonly Account[],
  limit: Exclude<LimitName, "maxDurationMs">,
  asked: number | undefined,
): number | undefined {
  let left = asked;
  for (const account of accounts) {
    if (account.limits[limit] === undefined) continue;
    const { tokens, cost } = account.reserved;
    const free =
      account.allowed(limit) - account.used(limit) - (limit === "maxTokens" ? tokens : cost);
    if (free <= 0) throw excess(account, limit);
    left = Math.min(left ?? free, free);
  }
  return left;
}

/** A part of the accounts that is set aside until it is settled. */
export class Grant implements SpendingGrant {
  readonly maxTokens: number | undefined;
  readonly maxCost: number | undefined;
  readonly #accounts: readonly Account[];
  readonly #settled: (accounts: readonly Account[]) => void;
  readonly #amount: Amount;
  #isOpen = true;

  /** @throws BudgetExceededError where nothing is left. */
  constructor(
    accounts: readonly Account[],
    request: SpendingRequest,
    settled: (accounts: readonly Account[]) => void,
  ) {
    for (const account of accounts)
      if (account.over !== undefined) throw excess(account, account.over);
    this.maxTokens = leftOf(accounts, "maxTokens", request.maxTokens);
    this.maxCost = leftOf(accounts, "maxCost", request.maxCost);
    this.#accounts = accounts;
    this.#settled = settled;
    this.#amount = { tokens: this.maxTokens ?? 0, cost: this.maxCost ?? 0 };
    for (const account of accounts) account.reserve(this, this.#amount);
  }

  /** @throws ValidationError for what is no amount. */
  settle({
    tokens,
    cost = 0,
  }: {
    readonly tokens: number;
    readonly cost?: number | undefined;
  }): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const isSound = isAmount(tokens) && isAmount(cost);
    const used = isSound ? { tokens, cost } : this.#amount;
    for (const account of this.#accounts) account.settle(this, used);
    this.#settled(this.#accounts);
    if (isSound) return;
    throw new ValidationError(
      `settle() tokens and cost must be numbers >= 0, got: ${preview(isAmount(tokens) ? cost : tokens)}`,
      { hint: "All that was set aside counts as used." },
    );
  }

  /** Work elsewhere never waits for calls of the run that has it done. */
  mayWaitFor(_run: HookRun): boolean {
    return false;
  }
}
