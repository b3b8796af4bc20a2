import type { WorkBudget } from "../../contracts/network-options.js";
import type { WorkRequest } from "../../contracts/network.js";
import type { CallerQuota, QuotaState } from "../../contracts/queue-options.js";
import type { StartOptions } from "../../contracts/service.js";
import type { ForeignUsage } from "../../contracts/usage.js";
import type {
  QuotaExcess,
  QuotaPermit,
  QuotaPlace,
} from "../../plugins/shared/quotas/quota-windows.js";
import { checkCallerQuota } from "../../contracts/queue-options.js";
import { isStoredFor } from "../../plugins/network/shared/stored-ids.js";
import { requirePrices } from "../../plugins/shared/quotas/quota-prices.js";
import { QuotaWindows } from "../../plugins/shared/quotas/quota-windows.js";
import { usageAmount } from "../../plugins/shared/quotas/usage-amount.js";

/** The parts of a service that its quotas need. */
export interface CallerPlace extends QuotaPlace {
  readonly ensemble: string;
  /** The currency of the ensemble's prices. `undefined` without prices. */
  readonly currency: string | undefined;
}

/** The reason why a request is not accepted. */
export interface QuotaRefusal {
  readonly problem: string;
  /** The time until the next window, in milliseconds. */
  readonly retryAfterMs: number;
}

/** Counts the usage of callers over HTTP in windows. */
export class CallerQuotas {
  readonly #options: Pick<StartOptions, "quota" | "callers">;
  readonly #place: Omit<CallerPlace, keyof QuotaPlace>;
  readonly #windows: QuotaWindows;

  /** @throws ValidationError for a limit of the cost without prices. */
  constructor(options: Pick<StartOptions, "quota" | "callers">, place: CallerPlace) {
    this.#options = options;
    this.#place = place;
    this.#windows = new QuotaWindows(place);
    const { quota, callers = {} } = options;
    const known = Object.values(callers).map((caller) =>
      typeof caller === "string" ? undefined : caller.quota,
    );
    for (const one of [typeof quota === "function" ? undefined : quota, ...known])
      requirePrices(one, place.currency, "ensemble");
  }

  /**
   * Returns the quota of a caller.
   * @throws ValidationError for an invalid quota that a function returned.
   */
  quotaOf(caller: string): CallerQuota | undefined {
    const { quota, callers = {} } = this.#options;
    const own = Object.hasOwn(callers, caller) ? callers[caller] : undefined;
    if (typeof own === "object" && own.quota !== undefined) return own.quota;
    if (typeof quota !== "function") return quota;
    const found = quota(caller);
    if (found === undefined) return undefined;
    checkCallerQuota("the quota of a caller", found);
    requirePrices(found, this.#place.currency, "ensemble");
    return found;
  }

  /** Reserves one more request. Returns `undefined` for a caller without a quota. */
  async admit(caller: string): Promise<QuotaPermit | QuotaRefusal | undefined> {
    const quota = this.quotaOf(caller);
    if (quota === undefined) return undefined;
    const permit = await this.#windows.admit(this.#keyOf(caller), quota);
    return "limit" in permit ? callerRefusal(caller, quota, permit) : permit;
  }

  /** Returns the budget that the quota of its caller leaves for a request. */
  async leftFor(request: WorkRequest): Promise<WorkBudget | undefined> {
    const quota = this.#quotaFor(request);
    if (quota === undefined || (quota.maxTokens ?? quota.maxCost) === undefined) return undefined;
    const { tokens, cost } = await this.#windows.usageOf(this.#keyOf(request.from), quota);
    const { maxTokens, maxCost } = quota;
    return {
      ...(maxTokens !== undefined && { maxTokens: Math.max(1, maxTokens - tokens) }),
      ...(maxCost !== undefined && {
        maxCost: Math.max(Number.MIN_VALUE, maxCost - cost),
        currency: this.#place.currency,
      }),
    };
  }

  /** Counts the usage of the run of a request. */
  async spend(request: WorkRequest, usage: readonly ForeignUsage[]): Promise<void> {
    const quota = this.#quotaFor(request);
    const spent = usageAmount(usage, this.#place.currency);
    if (quota === undefined || (spent.tokens === 0 && spent.cost === 0)) return;
    await this.#windows.spend(this.#keyOf(request.from), quota, spent);
  }

  /** Returns the usage of a caller. Returns `undefined` for a caller without a quota. */
  async stateOf(caller: string): Promise<QuotaState | undefined> {
    const quota = this.quotaOf(caller);
    return quota && this.#windows.stateOf(this.#keyOf(caller), quota);
  }

  /**
   * Returns the quota for a request over HTTP. Such a request has an id of its caller. Other
   * requests of a backend may name any sender.
   */
  #quotaFor({ from, requestId }: WorkRequest): CallerQuota | undefined {
    return isStoredFor(from, requestId) ? this.quotaOf(from) : undefined;
  }

  #keyOf(caller: string): string {
    return `quota:${this.#place.ensemble}:${caller}`;
  }
}

function callerRefusal(
  caller: string,
  { windowMs }: CallerQuota,
  { limit, unit, retryAfterMs }: QuotaExcess,
): QuotaRefusal {
  const over = unit === "cost" ? `a cost of ${limit}` : `${limit} ${unit}`;
  return {
    problem: `Caller '${caller}' has used its quota of ${over} in ${windowMs} ms`,
    retryAfterMs,
  };
}
