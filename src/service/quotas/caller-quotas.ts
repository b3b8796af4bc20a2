import type {
  BudgetAccount,
  BudgetAccounts,
  BudgetAmount,
} from "../../contracts/budget-accounts.js";
import type { WorkBudget } from "../../contracts/network-options.js";
import type { WorkRequest } from "../../contracts/network.js";
import type { CallerQuota } from "../../contracts/queue-options.js";
import type { Clock } from "../../contracts/runtime.js";
import type { StartOptions } from "../../contracts/service.js";
import type { ForeignUsage } from "../../contracts/usage.js";
import { ValidationError } from "../../contracts/errors.js";
import { checkCallerQuota } from "../../contracts/queue-options.js";
import { isStoredFor } from "../../plugins/network/shared/stored-ids.js";
import { usageAmount } from "./usage-amount.js";

const NOTHING: BudgetAmount = Object.freeze({ tokens: 0, cost: 0 });

/** What the quotas of a service need. */
export interface QuotaPlace {
  readonly ensemble: string;
  readonly clock: Pick<Clock, "now">;
  readonly accounts: BudgetAccounts;
  /** The currency of the ensemble's prices; `undefined` without prices. */
  readonly currency: string | undefined;
}

/** Why a request is not accepted. */
export interface QuotaRefusal {
  readonly problem: string;
  /** Until the next window. */
  readonly retryAfterMs: number;
}

/** The place of a request within the quota of its caller. */
export interface QuotaPermit {
  /** Counts the request. */
  accepted(): Promise<void>;
  /** Gives the place back. */
  refused(): Promise<void>;
}

/** What a caller has used in the present window. */
export interface QuotaState {
  readonly quota: CallerQuota;
  readonly used: { readonly requests: number } & BudgetAmount;
  readonly resetsInMs: number;
}

interface Window {
  readonly index: number;
  readonly requests: BudgetAccount;
  readonly usage: BudgetAccount;
}

/** Counts what callers over HTTP use, in windows. */
export class CallerQuotas {
  readonly #options: Pick<StartOptions, "quota" | "callers">;
  readonly #place: QuotaPlace;
  /** The latest window of each caller. */
  readonly #windows = new Map<string, Promise<Window>>();

  /** @throws ValidationError for a limit of the cost without prices. */
  constructor(options: Pick<StartOptions, "quota" | "callers">, place: QuotaPlace) {
    this.#options = options;
    this.#place = place;
    const { quota, callers = {} } = options;
    const known = Object.values(callers).map((caller) =>
      typeof caller === "string" ? undefined : caller.quota,
    );
    for (const one of [typeof quota === "function" ? undefined : quota, ...known])
      this.#requirePrices(one);
  }

  /** The quota of a caller. @throws ValidationError for an invalid one that a function has returned. */
  quotaOf(caller: string): CallerQuota | undefined {
    const { quota, callers = {} } = this.#options;
    const own = Object.hasOwn(callers, caller) ? callers[caller] : undefined;
    if (typeof own === "object" && own.quota !== undefined) return own.quota;
    if (typeof quota !== "function") return quota;
    const found = quota(caller);
    if (found === undefined) return undefined;
    checkCallerQuota("the quota of a caller", found);
    this.#requirePrices(found);
    return found;
  }

  /** Reserves a place for one more request. `undefined` for a caller without a quota. */
  async admit(caller: string): Promise<QuotaPermit | QuotaRefusal | undefined> {
    const quota = this.quotaOf(caller);
    if (quota === undefined) return undefined;
    const { requests, usage } = await this.#window(caller, quota);
    await usage.shared?.refresh();
    const over = exceeded(quota, usage.state.used);
    if (over !== undefined) return this.#refusal(caller, quota, over);
    const place = await requests.reserve({ tokens: 1, cost: 0 });
    if (place === undefined)
      return this.#refusal(caller, quota, `${quota.maxRequests ?? 0} requests`);
    return {
      accepted: async () => place.settle({ tokens: 1, cost: 0 }),
      refused: async () => place.settle(NOTHING),
    };
  }

  /** The budget that the quota of its caller leaves to a request. */
  async leftFor(request: WorkRequest): Promise<WorkBudget | undefined> {
    const quota = this.#quotaFor(request);
    if (quota === undefined || (quota.maxTokens ?? quota.maxCost) === undefined) return undefined;
    const { usage } = await this.#window(request.from, quota);
    await usage.shared?.refresh();
    const { tokens, cost } = usage.state.used;
    const { maxTokens, maxCost } = quota;
    return {
      ...(maxTokens !== undefined && { maxTokens: Math.max(1, maxTokens - tokens) }),
      ...(maxCost !== undefined && {
        maxCost: Math.max(Number.MIN_VALUE, maxCost - cost),
        currency: this.#place.currency,
      }),
    };
  }

  /** Counts what the run of a request has used. */
  async spend(request: WorkRequest, usage: readonly ForeignUsage[]): Promise<void> {
    const quota = this.#quotaFor(request);
    const spent = usageAmount(usage, this.#place.currency);
    if (quota === undefined || (spent.tokens === 0 && spent.cost === 0)) return;
    const window = await this.#window(request.from, quota);
    const place = await window.usage.reserve(NOTHING); // the account has no limits
    await place?.settle(spent);
  }

  /** What a caller has used. `undefined` for a caller without a quota. */
  async stateOf(caller: string): Promise<QuotaState | undefined> {
    const quota = this.quotaOf(caller);
    if (quota === undefined) return undefined;
    const { requests, usage } = await this.#window(caller, quota);
    await Promise.all([requests.shared?.refresh(), usage.shared?.refresh()]);
    const { used } = usage.state;
    return {
      quota,
      used: { requests: requests.state.used.tokens, tokens: used.tokens, cost: used.cost },
      resetsInMs: this.#resetsInMs(quota),
    };
  }

  /** Requests of a backend may have any sender: those over HTTP have an id of their caller. */
  #quotaFor({ from, requestId }: WorkRequest): CallerQuota | undefined {
    return isStoredFor(from, requestId) ? this.quotaOf(from) : undefined;
  }

  #window(caller: string, quota: CallerQuota): Promise<Window> {
    const index = Math.floor(this.#place.clock.now().getTime() / quota.windowMs);
    const before = this.#windows.get(caller);
    const opened = (async (): Promise<Window> => {
      const known = await before?.catch(() => undefined);
      return known?.index === index ? known : this.#open(caller, quota, index);
    })();
    this.#windows.set(caller, opened);
    return opened;
  }

  async #open(caller: string, quota: CallerQuota, index: number): Promise<Window> {
    const { accounts, ensemble } = this.#place;
    const key = `quota:${ensemble}:${caller}:${quota.windowMs}:${index}`;
    const { maxRequests } = quota;
    const usage = await accounts.open({ key, earlier: NOTHING });
    const requests = await accounts.open({
      key: `${key}:requests`,
      earlier: NOTHING,
      ...(maxRequests !== undefined && { maxTokens: maxRequests }),
    });
    return { index, usage, requests };
  }

  #refusal(caller: string, quota: CallerQuota, over: string): QuotaRefusal {
    return {
      problem: `Caller '${caller}' has used its quota of ${over} in ${quota.windowMs} ms`,
      retryAfterMs: this.#resetsInMs(quota),
    };
  }

  #resetsInMs({ windowMs }: CallerQuota): number {
    return windowMs - (this.#place.clock.now().getTime() % windowMs);
  }

  #requirePrices(quota: CallerQuota | undefined): void {
    if (quota?.maxCost === undefined || this.#place.currency !== undefined) return;
    throw new ValidationError("A quota limits the cost, and this ensemble knows no prices", {
      hint: "Set costConfiguration of the ensemble, or maxTokens instead of maxCost.",
    });
  }
}

function exceeded(
  { maxTokens, maxCost }: CallerQuota,
  { tokens, cost }: BudgetAmount,
): string | undefined {
  if (maxTokens !== undefined && tokens >= maxTokens) return `${maxTokens} tokens`;
  return maxCost !== undefined && cost >= maxCost ? `a cost of ${maxCost}` : undefined;
}
