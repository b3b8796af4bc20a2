import type { HookRun } from "../../../contracts/run.js";
import type { SpendingGrant, SpendingRequest } from "../../../contracts/spending.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { Account, ReservationHolder } from "./account.js";
import type { BudgetAmount } from "../../../contracts/budget-accounts.js";
import type { LimitName } from "./amount.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireDuration,
  requireInteger,
} from "../../../contracts/validation.js";
import { startTimer } from "../../../util/abort/timer.js";
import { allOf, passOn } from "../../../util/awaitable.js";
import { caughtUp, checkRefusals } from "./attempt.js";
import { excess } from "./exceeded.js";
import { advance } from "./queue.js";
import { reserveAll } from "./reserve-all.js";

/** @throws ValidationError */
export function checkSpending(request: SpendingRequest): void {
  checkOptions("grant()", request, ["maxTokens", "maxCost", "timeoutMs"]);
  requireInteger("grant() maxTokens", request.maxTokens, 1);
  const { maxCost } = request;
  if (maxCost !== undefined && !(Number.isFinite(maxCost) && maxCost > 0))
    throw new ValidationError(`grant() maxCost must be a number > 0, got: ${preview(maxCost)}`);
  requireDuration("grant() timeoutMs", request.timeoutMs);
}

function isAmount(used: unknown): boolean {
  return typeof used === "number" && Number.isFinite(used) && used >= 0;
}

/**
 * Returns the rest of a limit under all accounts, at most the requested amount.
 * @throws BudgetExceededError if nothing is left.
 */
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

/**
 * Reserves the requested amount, or the rest.
 * @throws BudgetExceededError if nothing is left; LimitStoreError.
 */
export function openGrant(
  accounts: readonly Account[],
  request: SpendingRequest,
  refusals = 0,
): Awaitable<Grant> {
  return passOn(caughtUp(accounts), () => {
    for (const account of accounts)
      if (account.over !== undefined) throw excess(account, account.over);
    const grant = new Grant(accounts, {
      maxTokens: leftOf(accounts, "maxTokens", request.maxTokens),
      maxCost: leftOf(accounts, "maxCost", request.maxCost),
      timeoutMs: request.timeoutMs,
    });
    return passOn(grant.take(), (isTaken) => {
      if (isTaken) return grant;
      checkRefusals(refusals + 1);
      return openGrant(accounts, request, refusals + 1);
    });
  });
}

/** A part of the accounts that is reserved until it is settled. */
export class Grant implements SpendingGrant, ReservationHolder {
  readonly maxTokens: number | undefined;
  readonly maxCost: number | undefined;
  /** Called at the settlement. */
  onSettled: () => void = () => undefined;
  readonly #accounts: readonly Account[];
  readonly #amount: BudgetAmount;
  readonly #timeoutMs: number | undefined;
  #isOpen = true;
  #stopTimer: (() => void) | undefined;

  constructor(accounts: readonly Account[], { maxTokens, maxCost, timeoutMs }: SpendingRequest) {
    this.maxTokens = maxTokens;
    this.maxCost = maxCost;
    this.#accounts = accounts;
    this.#amount = { tokens: maxTokens ?? 0, cost: maxCost ?? 0 };
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Reserves the amount in all accounts, or in none. Returns whether it did.
   * @throws LimitStoreError
   */
  take(): Awaitable<boolean> {
    const amount = this.#amount;
    const parts = this.#accounts.map((account) => ({ account, amount }));
    return passOn(reserveAll(this, parts), (isTaken) => {
      if (isTaken && this.#timeoutMs !== undefined)
        this.#stopTimer = startTimer(this.#timeoutMs, () => void this.expire());
      return isTaken;
    });
  }

  /** @throws ValidationError for an invalid amount. */
  settle({
    tokens,
    cost = 0,
  }: {
    readonly tokens: number;
    readonly cost?: number | undefined;
  }): Awaitable<void> {
    if (!this.#isOpen) return undefined;
    if (isAmount(tokens) && isAmount(cost)) return this.#settle({ tokens, cost });
    return passOn(this.expire(), () => {
      throw new ValidationError(
        `settle() tokens and cost must be numbers >= 0, got: ${preview(isAmount(tokens) ? cost : tokens)}`,
        { hint: "All that was set aside counts as used." },
      );
    });
  }

  /** Counts the complete amount as used, unless it is settled. */
  expire(): Awaitable<void> {
    return this.#isOpen ? this.#settle(this.#amount) : undefined;
  }

  #settle(used: BudgetAmount): Awaitable<void> {
    this.#isOpen = false;
    this.#stopTimer?.();
    this.onSettled();
    const settled = this.#accounts.map((account) => account.settle(this, used));
    return passOn(allOf(settled), () => advance(this.#accounts));
  }

  /** External work never waits for calls of its run. */
  mayWaitFor(_run: HookRun): boolean {
    return false;
  }
}
