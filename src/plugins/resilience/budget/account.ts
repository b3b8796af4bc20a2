import type { ChatModel } from "../../../contracts/chat-model.js";
import type { CostConfiguration } from "../../../contracts/cost.js";
import type { HookRun } from "../../../contracts/run.js";
import type { Clock } from "../../../contracts/runtime.js";
import type { UsageRecord } from "../../../contracts/usage.js";
import type { Amount, LimitName } from "./amount.js";
import type { BudgetSettings } from "./budget-options.js";
import type { Demand } from "./demand.js";
import { NOTHING } from "./amount.js";
import { pricedCost, greatestWithin } from "./pricing.js";

/** A call in flight for which a part of an account is reserved. */
interface Holder {
  /** Whether a tap of this call may have started `run` and be waiting for it. */
  mayWaitFor(run: HookRun): boolean;
}

/** A call that waits until others have settled. */
interface QueuedCall {
  readonly accounts: readonly Account[];
  /** Decides again; whether it has left. */
  step(): boolean;
}

/** What an account is opened with. */
interface AccountOptions {
  readonly limits: BudgetSettings;
  /** Instead of the model of a call that the cost leaves no room for. */
  readonly cheaper: ChatModel | undefined;
  readonly owner: HookRun;
  /** Where cost is limited. */
  readonly costPrices: CostConfiguration | undefined;
  readonly clock: Clock;
}

/** Follows the changes of an account. */
interface AccountMeter {
  changed(): void;
  /** Called once, at the end of the run. */
  close(): void;
}

/** What one run, its delegates and the runs that joined it have used of one budget, and what is reserved for their calls in flight. */
export class Account {
  /** The owner and the runs that joined it, while they run. */
  readonly runs = new Set<HookRun>();
  readonly reservations = new Map<Holder, Amount>();
  /** In the order in which they came. */
  readonly waiting = new Set<QueuedCall>();
  /** The limit that stopped its runs. */
  closedBy: LimitName | undefined;
  /** Tells the owner of changes, once it has begun. */
  meter: AccountMeter | undefined;
  readonly #startedMs: number;
  #tokens = 0;
  #cost = 0;
  #reservedTokens = 0;
  #reservedCost = 0;

  readonly limits: BudgetSettings;
  readonly cheaper: ChatModel | undefined;
  readonly owner: HookRun;
  readonly costPrices: CostConfiguration | undefined;
  readonly #clock: Clock;

  constructor({ limits, cheaper, owner, costPrices, clock }: AccountOptions) {
    this.limits = limits;
    this.cheaper = cheaper;
    this.owner = owner;
    this.costPrices = costPrices;
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
  }

  get reserved(): Amount {
    // Sums of fractions that were taken back do not come out at zero.
    return this.reservations.size === 0
      ? NOTHING
      : { tokens: this.#reservedTokens, cost: this.#reservedCost };
  }

  /** Whether its time is up, or it has stopped its runs. */
  get over(): LimitName | undefined {
    if (this.closedBy !== undefined) return this.closedBy;
    const { maxDurationMs } = this.limits;
    return maxDurationMs !== undefined && this.elapsedMs >= maxDurationMs
      ? "maxDurationMs"
      : undefined;
  }

  get elapsedMs(): number {
    return this.#clock.monotonicMs() - this.#startedMs;
  }

  allowed(limit: LimitName): number {
    return this.limits[limit] ?? Number.POSITIVE_INFINITY;
  }

  /** Of `maxDurationMs` whole milliseconds. */
  used(limit: LimitName): number {
    if (limit === "maxDurationMs") return Math.round(this.elapsedMs);
    return limit === "maxTokens" ? this.#tokens : this.#cost;
  }

  /** How many tokens a call may put out, where `held` is set aside for others: from 0 to what it wants, below 0 when not even its input fits. */
  room(demand: Demand, model: ChatModel, held: Amount): number {
    const byTokens = this.#roomInTokens(demand, held);
    return byTokens < demand.least
      ? byTokens
      : Math.min(byTokens, this.#roomInCost(demand, model, held));
  }

  /** The limit that leaves a call no room. */
  tightest(demand: Demand, held: Amount): LimitName {
    return this.#roomInTokens(demand, held) < demand.least ? "maxTokens" : "maxCost";
  }

  reserve(reservation: Holder, amount: Amount): void {
    this.reservations.set(reservation, amount);
    this.#reservedTokens += amount.tokens;
    this.#reservedCost += amount.cost;
    this.meter?.changed();
  }

  /** Takes the reservation back and counts what was really used. */
  settle(reservation: Holder, used: Amount): void {
    const amount = this.reservations.get(reservation) ?? NOTHING;
    this.reservations.delete(reservation);
    this.#reservedTokens -= amount.tokens;
    this.#reservedCost -= amount.cost;
    this.#tokens += used.tokens;
    this.#cost += used.cost;
    this.meter?.changed();
  }

  /** Counts what an earlier execution of the run used. */
  charge({ inputTokens, outputTokens, cost = 0 }: UsageRecord): void {
    this.#tokens += Math.max(0, inputTokens) + Math.max(0, outputTokens);
    this.#cost += cost;
  }

  #roomInTokens(demand: Demand, held: Amount): number {
    const { maxTokens } = this.limits;
    if (maxTokens === undefined) return demand.wanted;
    return Math.min(demand.wanted, maxTokens - this.#tokens - held.tokens - demand.inputTokens);
  }

  #roomInCost(demand: Demand, model: ChatModel, held: Amount): number {
    const { maxCost } = this.limits;
    const { costPrices: prices } = this;
    if (maxCost === undefined || prices === undefined) return demand.wanted;
    return greatestWithin(maxCost - this.#cost - held.cost, demand.wanted, (outputTokens) =>
      pricedCost(prices, demand.usageOf(model, outputTokens)),
    );
  }
}
