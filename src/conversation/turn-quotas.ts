import type {
  BudgetAccount,
  BudgetAccounts,
  BudgetAmount,
  BudgetReservation,
  BudgetState,
} from "../contracts/budget-accounts.js";
import type { Awaitable } from "../contracts/types.js";
import type { CostConfiguration } from "../contracts/cost.js";
import type { CallerQuota, QuotaState } from "../contracts/queue-options.js";
import type { Clock } from "../contracts/runtime.js";
import type { UsageRecord } from "../contracts/usage.js";
import type { QuotaExcess, QuotaPermit } from "../plugins/shared/quotas/quota-windows.js";
import type { TurnOwner } from "../plugins/shared/thread-tags.js";
import type { OwnerQuota, ThreadQuota, ThreadUsage } from "./conversation-options.js";
import { TurnQuotaError } from "../contracts/conversation-errors.js";
import { checkCallerQuota } from "../contracts/queue-options.js";
import {
  checkedAccount,
  checkedReservation,
  stateOfAccount,
} from "../plugins/resilience/budget/checked-account.js";
import { storeAnswer } from "../plugins/resilience/shared/store-answer.js";
import { priceCurrency, requirePrices } from "../plugins/shared/quotas/quota-prices.js";
import { QuotaWindows } from "../plugins/shared/quotas/quota-windows.js";
import { usageAmount } from "../plugins/shared/quotas/usage-amount.js";
import { passOn } from "../util/awaitable.js";
import { messageOf, toError } from "../util/errors.js";
import { emitProcessWarning } from "../util/process-warning.js";

/** The quotas of a conversation. */
interface TurnQuotaOptions {
  readonly quota?: OwnerQuota | undefined;
  readonly threadQuota?: ThreadQuota | undefined;
}

/** The data of a conversation that its quotas need. */
interface TurnQuotaPlace {
  /** Its name. */
  readonly conversation: string | undefined;
  readonly clock: Pick<Clock, "now">;
  readonly accounts: BudgetAccounts;
  readonly prices: CostConfiguration | undefined;
}

/** A quota that applies to a turn. */
interface AppliedQuota {
  readonly scope: TurnQuotaError["scope"];
  readonly key: string;
  readonly quota: CallerQuota;
}

/** Counts the turns of owners and threads and their usage, in windows. */
export class TurnQuotas {
  readonly #options: TurnQuotaOptions;
  readonly #conversation: string;
  readonly #currency: string | undefined;
  readonly #timeoutMs: number | undefined;
  readonly #windows: QuotaWindows;

  /** @throws ValidationError for a limit of the cost without prices. */
  constructor(options: TurnQuotaOptions, place: TurnQuotaPlace) {
    const { conversation = "conversation", clock, accounts, prices } = place;
    this.#options = options;
    this.#conversation = conversation;
    this.#currency = priceCurrency(prices);
    this.#timeoutMs = accounts.timeoutMs;
    this.#windows = new QuotaWindows({ clock, accounts: checkedAccounts(accounts) });
    for (const one of [options.quota, options.threadQuota])
      if (typeof one !== "function") requirePrices(one, this.#currency, "conversation");
  }

  /**
   * Counts a turn at its start.
   * @throws TurnQuotaError; ValidationError for an invalid quota that a function returned;
   * LimitStoreError; the reason of `signal`.
   */
  async admit(turn: TurnOwner, signal: AbortSignal): Promise<void> {
    const permits: QuotaPermit[] = [];
    try {
      for (const { scope, key, quota } of this.#quotasOf(turn)) {
        const ask = (): Promise<QuotaPermit | QuotaExcess> => this.#windows.admit(key, quota);
        const permit = await this.#asked(ask, { signal, undo: withdraw });
        if ("limit" in permit) throw quotaError(turn, scope, permit);
        permits.push(permit);
      }
    } catch (error) {
      await Promise.allSettled(permits.map((permit) => this.#asked(() => permit.refused())));
      throw error;
    }
    for (const permit of permits) await this.#asked(() => permit.accepted());
  }

  /** Returns the tokens and the cost of a usage. */
  amountOf(usage: readonly UsageRecord[]): BudgetAmount {
    return usageAmount(usage, this.#currency);
  }

  /** Counts the usage of a turn. Never rejects: a failure causes a warning. */
  async spend(turn: TurnOwner, spent: BudgetAmount): Promise<void> {
    try {
      const counting = this.#quotasOf(turn)
        .filter(({ quota: { maxTokens, maxCost } }) => (maxTokens ?? maxCost) !== undefined)
        .map(({ key, quota }) => this.#asked(() => this.#windows.spend(key, quota, spent)));
      for (const counted of await Promise.allSettled(counting))
        if (counted.status === "rejected") throw toError(counted.reason);
    } catch (error) {
      emitProcessWarning(
        `The usage of a turn of thread '${turn.threadId}' is missing in its quota: ${messageOf(error)}`,
      );
    }
  }

  /**
   * Returns the used amounts of the quotas of a turn.
   * @throws as `admit`, except TurnQuotaError.
   */
  async usageOf(turn: TurnOwner): Promise<ThreadUsage> {
    const usage: Partial<Record<AppliedQuota["scope"], QuotaState>> = {};
    for (const { scope, key, quota } of this.#quotasOf(turn))
      usage[scope] = await this.#asked(() => this.#windows.stateOf(key, quota));
    return usage;
  }

  /**
   * Returns the quota of the thread first. Only one turn of a thread is admitted at a time. The
   * owner's quota is therefore reserved only for a turn that its thread admits.
   */
  #quotasOf({ threadId, owner }: TurnOwner): readonly AppliedQuota[] {
    const { quota: ofOwner, threadQuota: ofThread } = this.#options;
    const thread = typeof ofThread === "function" ? ofThread(threadId, owner) : ofThread;
    const all = typeof ofOwner === "function" ? ofOwner(owner) : ofOwner;
    return [
      ...this.#applied("thread", thread, [owner ?? null, threadId]),
      ...this.#applied("owner", all, [owner ?? null]),
    ];
  }

  #applied(
    scope: AppliedQuota["scope"],
    quota: CallerQuota | undefined,
    name: readonly (string | null)[],
  ): readonly AppliedQuota[] {
    if (quota === undefined) return [];
    checkCallerQuota(`the quota of the ${scope}`, quota);
    requirePrices(quota, this.#currency, "conversation");
    const key = `turns:${JSON.stringify([this.#conversation, scope, ...name])}`;
    return [{ scope, key, quota }];
  }

  async #asked<T>(
    ask: () => Promise<T>,
    o: { readonly signal?: AbortSignal; readonly undo?: (late: T) => unknown } = {},
  ): Promise<T> {
    const what = "The account of a quota";
    return storeAnswer(ask, { what, timeoutMs: this.#timeoutMs, ...o });
  }
}

/**
 * Releases the reservation of a turn that was refused because the answer of its account was late.
 */
function withdraw(permit: QuotaPermit | QuotaExcess): unknown {
  return "refused" in permit ? permit.refused() : undefined;
}

function quotaError(
  { threadId }: TurnOwner,
  scope: TurnQuotaError["scope"],
  { unit, limit, retryAfterMs }: QuotaExcess,
): TurnQuotaError {
  const counted = unit === "requests" ? "turns" : unit;
  return new TurnQuotaError({ scope, threadId, limit, unit: counted, retryAfterMs });
}

/** Returns accounts that check their answers. An unchecked invalid answer would impose no limit. */
function checkedAccounts(accounts: BudgetAccounts): BudgetAccounts {
  return {
    open: (request) => passOn(accounts.open(request), (account) => new CheckedAccount(account)),
  };
}

/** An account whose answers are checked. All members throw LimitStoreError. */
class CheckedAccount implements BudgetAccount {
  readonly shared: BudgetAccount["shared"];
  readonly #account: BudgetAccount;

  constructor(account: BudgetAccount) {
    this.#account = checkedAccount(account);
    this.shared = account.shared;
  }

  get state(): BudgetState {
    return stateOfAccount(this.#account);
  }

  reserve(amount: BudgetAmount): Awaitable<BudgetReservation | undefined> {
    return passOn(this.#account.reserve(amount), checkedReservation);
  }
}
