import type {
  BudgetAccount,
  BudgetAccounts,
  BudgetAmount,
  BudgetReservation,
} from "../../../contracts/budget-accounts.js";
import type { CallerQuota, QuotaState } from "../../../contracts/queue-options.js";
import type { Clock } from "../../../contracts/runtime.js";
import { EndingValues } from "./ending-values.js";

const NOTHING: BudgetAmount = Object.freeze({ tokens: 0, cost: 0 });
const ONE: BudgetAmount = Object.freeze({ tokens: 1, cost: 0 });

/** The surroundings of quota windows. */
export interface QuotaPlace {
  readonly clock: Pick<Clock, "now">;
  readonly accounts: BudgetAccounts;
}

/** The limit that a window has reached. */
export interface QuotaExcess {
  readonly limit: number;
  readonly unit: "requests" | "tokens" | "cost";
  /** Milliseconds until the next window begins. */
  readonly retryAfterMs: number;
}

/** A reserved place of a request in a window. */
export interface QuotaPermit {
  /** Counts the request. */
  accepted(): Promise<void>;
  /** Releases the reserved place. */
  refused(): Promise<void>;
}

interface Window {
  readonly usage: BudgetAccount;
  readonly requests: BudgetAccount;
  /** The limit with which `requests` was opened. */
  readonly maxRequests: number | undefined;
}

/**
 * Counts requests and usage by key, in time windows. The accounts of a window are released after
 * its end.
 */
export class QuotaWindows {
  readonly #place: QuotaPlace;
  readonly #windows = new EndingValues<Promise<Window>>();

  constructor(place: QuotaPlace) {
    this.#place = place;
  }

  /** The number of windows in memory. */
  get size(): number {
    return this.#windows.size;
  }

  /** Reserves a place for one more request. */
  async admit(key: string, quota: CallerQuota): Promise<QuotaPermit | QuotaExcess> {
    const { requests, usage } = await this.#window(key, quota);
    await usage.shared?.refresh();
    const over = limitReached(quota, usage.state.used);
    if (over !== undefined) return this.#excess(quota, over);
    const place = await requests.reserve(ONE);
    if (place !== undefined) return permitOf(place);
    return this.#excess(quota, { limit: quota.maxRequests ?? 0, unit: "requests" });
  }

  async spend(key: string, quota: CallerQuota, spent: BudgetAmount): Promise<void> {
    const { usage } = await this.#window(key, quota);
    const place = await usage.reserve(NOTHING); // the account has no limits
    await place?.settle(spent);
  }

  /** Returns the counted usage. */
  async usageOf(key: string, quota: CallerQuota): Promise<BudgetAmount> {
    const { usage } = await this.#window(key, quota);
    await usage.shared?.refresh();
    return usage.state.used;
  }

  async stateOf(key: string, quota: CallerQuota): Promise<QuotaState> {
    const { requests, usage } = await this.#window(key, quota);
    await Promise.all([requests.shared?.refresh(), usage.shared?.refresh()]);
    const { tokens, cost } = usage.state.used;
    const used = { requests: requests.state.used.tokens, tokens, cost };
    return { quota, used, resetsInMs: this.#resetsInMs(quota) };
  }

  #window(key: string, quota: CallerQuota): Promise<Window> {
    const { windowMs } = quota;
    const now = this.#place.clock.now().getTime();
    const index = Math.floor(now / windowMs);
    const windows = this.#windows.until((index + 1) * windowMs, now);
    const id = `${key}:${windowMs}:${index}`;
    const before = windows.get(id);
    const opened = this.#opened(id, quota, before);
    windows.set(id, opened);
    opened.catch(() => {
      if (windows.get(id) === opened) windows.delete(id); // the next access opens it again
    });
    return opened;
  }

  async #opened(
    id: string,
    quota: CallerQuota,
    before: Promise<Window> | undefined,
  ): Promise<Window> {
    const known = await before?.catch(() => undefined);
    const { maxRequests } = quota;
    if (known !== undefined && known.maxRequests === maxRequests) return known;
    const { accounts } = this.#place;
    const usage = known?.usage ?? (await accounts.open({ key: id, earlier: NOTHING }));
    const requests = await accounts.open({
      key: `${id}:requests`,
      earlier: known === undefined ? NOTHING : countedBy(known.requests),
      ...(maxRequests !== undefined && { maxTokens: maxRequests }),
    });
    return { usage, requests, maxRequests };
  }

  #excess(quota: CallerQuota, over: Omit<QuotaExcess, "retryAfterMs">): QuotaExcess {
    return { ...over, retryAfterMs: this.#resetsInMs(quota) };
  }

  #resetsInMs({ windowMs }: CallerQuota): number {
    return windowMs - (this.#place.clock.now().getTime() % windowMs);
  }
}

/**
 * Returns the initial count of an account whose limit has changed. Reservations of an account in
 * this process count as used, because the new account does not have them.
 */
function countedBy({ state, shared }: BudgetAccount): BudgetAmount {
  const { used, reserved } = state;
  return shared === undefined ? { tokens: used.tokens + reserved.tokens, cost: 0 } : used;
}

function limitReached(
  { maxTokens, maxCost }: CallerQuota,
  { tokens, cost }: BudgetAmount,
): Omit<QuotaExcess, "retryAfterMs"> | undefined {
  if (maxTokens !== undefined && tokens >= maxTokens) return { limit: maxTokens, unit: "tokens" };
  if (maxCost !== undefined && cost >= maxCost) return { limit: maxCost, unit: "cost" };
  return undefined;
}

function permitOf(place: BudgetReservation): QuotaPermit {
  return {
    accepted: async () => place.settle(ONE),
    refused: async () => place.settle(NOTHING),
  };
}
