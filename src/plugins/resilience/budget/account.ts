import type { BudgetAmount, BudgetReservation } from "../../../contracts/budget-accounts.js";
import type { ChatModel } from "../../../contracts/chat-model.js";
import type { CostConfiguration } from "../../../contracts/cost.js";
import type { HookRun } from "../../../contracts/run.js";
import type { Clock } from "../../../contracts/runtime.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { LimitName } from "./amount.js";
import type { BudgetSettings } from "./budget-options.js";
import type { Demand } from "./demand.js";
import type { CallQueue, QueuedCall } from "./queue.js";
import type { StoredAccount } from "./stored-account.js";
import { passOn } from "../../../util/awaitable.js";
import { pricedCost, greatestWithin } from "./pricing.js";
import { watch } from "./watch.js";

/** A call in flight for which a part of an account is reserved. */
export interface ReservationHolder {
  /** Whether a tap of this call may have started `run` and may be waiting for it. */
  mayWaitFor(run: HookRun): boolean;
}

/** The reservation of a holder in this process. */
interface Held {
  readonly amount: BudgetAmount;
  readonly reservation: BudgetReservation;
}

/** The data for opening an account. */
interface AccountOptions {
  readonly limits: BudgetSettings;
  /** The model for calls that exceed the remaining cost. */
  readonly cheaper: ChatModel | undefined;
  readonly owner: HookRun;
  /** Set if the cost is limited. */
  readonly costPrices: CostConfiguration | undefined;
  readonly clock: Clock;
  /** The storage that counts the usage. */
  readonly store: StoredAccount;
}

/** Tracks the changes of an account. */
interface AccountMeter {
  changed(): void;
  /** Called once, at the end of the run. */
  close(): void;
}

/**
 * The account of one run, its delegates and the runs that joined it, in this process. Decisions
 * about calls use its last known state.
 */
export class Account implements CallQueue {
  /** The owner and the runs that joined it, while they are in progress. */
  readonly runs = new Set<HookRun>();
  /** The reservations of this process. */
  readonly reservations = new Map<ReservationHolder, Held>();
  readonly waiting = new Set<QueuedCall>();
  /** The limit that stopped its runs. */
  closedBy: LimitName | undefined;
  /** Reports changes to the owner, after its run has begun. */
  meter: AccountMeter | undefined;
  readonly #startedMs: number;
  #watching: AbortController | undefined;

  readonly limits: BudgetSettings;
  readonly cheaper: ChatModel | undefined;
  readonly owner: HookRun;
  readonly costPrices: CostConfiguration | undefined;
  readonly clock: Clock;
  readonly #store: StoredAccount;

  constructor({ limits, cheaper, owner, costPrices, clock, store }: AccountOptions) {
    this.limits = limits;
    this.cheaper = cheaper;
    this.owner = owner;
    this.costPrices = costPrices;
    this.clock = clock;
    this.#store = store;
    this.#startedMs = clock.monotonicMs();
  }

  /** The reservations of all processes. */
  get reserved(): BudgetAmount {
    return this.#store.state.reserved;
  }

  /** Whether usage of calls is missing from its state. */
  get isBehind(): boolean {
    return this.#store.isBehind;
  }

  /** The limit of an account whose time has expired, or whose runs were stopped. */
  get over(): LimitName | undefined {
    if (this.closedBy !== undefined) return this.closedBy;
    const { maxDurationMs } = this.limits;
    return maxDurationMs !== undefined && this.elapsedMs >= maxDurationMs
      ? "maxDurationMs"
      : undefined;
  }

  get elapsedMs(): number {
    return this.clock.monotonicMs() - this.#startedMs;
  }

  allowed(limit: LimitName): number {
    return this.limits[limit] ?? Number.POSITIVE_INFINITY;
  }

  /** Returns the used amount of a limit. For `maxDurationMs`, integer milliseconds. */
  used(limit: LimitName): number {
    if (limit === "maxDurationMs") return Math.round(this.elapsedMs);
    const { tokens, cost } = this.#store.state.used;
    return limit === "maxTokens" ? tokens : cost;
  }

  /**
   * Returns the output tokens available to a call if `held` is reserved for others. The result is
   * at most the requested number. It is below 0 if the input alone exceeds the account.
   */
  room(demand: Demand, model: ChatModel, held: BudgetAmount): number {
    const byTokens = this.#roomInTokens(demand, held);
    return byTokens < demand.least
      ? byTokens
      : Math.min(byTokens, this.#roomInCost(demand, model, held));
  }

  /** Returns the limit that leaves a call no room. */
  tightest(demand: Demand, held: BudgetAmount): LimitName {
    return this.#roomInTokens(demand, held) < demand.least ? "maxTokens" : "maxCost";
  }

  /** Returns whether the amount fits. @throws LimitStoreError; the reason of `signal`. */
  reserve(
    holder: ReservationHolder,
    amount: BudgetAmount,
    signal?: AbortSignal,
  ): Awaitable<boolean> {
    return passOn(this.#store.reserve(amount, signal), (reservation) => {
      if (reservation === undefined) return false;
      this.reservations.set(holder, { amount, reservation });
      this.meter?.changed();
      return true;
    });
  }

  /** Releases the reservation and counts the actual usage. Never throws. */
  settle(holder: ReservationHolder, used: BudgetAmount): Awaitable<void> {
    const held = this.reservations.get(holder);
    if (held === undefined) return undefined;
    this.reservations.delete(holder);
    return passOn(this.#store.settle(held.reservation, used), () => this.meter?.changed());
  }

  /**
   * Counts usage whose earlier count failed.
   * @throws LimitStoreError; the reason of `signal`.
   */
  catchUp(signal?: AbortSignal): Promise<void> {
    return this.#store.catchUp(signal);
  }

  /**
   * Reads the usage and the reservations of other processes.
   * @throws LimitStoreError; the reason of `signal`.
   */
  refresh(signal: AbortSignal): Promise<void> {
    return this.#store.refresh(signal);
  }

  /** Called when the owner of the budget has ended. */
  close(): void {
    this.meter?.close();
    this.#store.close();
  }

  enqueue(call: QueuedCall): void {
    this.waiting.add(call);
    if (!this.#store.isShared || this.#watching !== undefined) return;
    this.#watching = new AbortController();
    void watch(this, this.#watching.signal);
  }

  dequeue(call: QueuedCall): void {
    this.waiting.delete(call);
    if (this.waiting.size > 0) return;
    this.#watching?.abort();
    this.#watching = undefined;
  }

  #roomInTokens(demand: Demand, held: BudgetAmount): number {
    const { maxTokens } = this.limits;
    if (maxTokens === undefined) return demand.wanted;
    return Math.min(
      demand.wanted,
      maxTokens - this.used("maxTokens") - held.tokens - demand.inputTokens,
    );
  }

  #roomInCost(demand: Demand, model: ChatModel, held: BudgetAmount): number {
    const { maxCost } = this.limits;
    const { costPrices: prices } = this;
    if (maxCost === undefined || prices === undefined) return demand.wanted;
    return greatestWithin(
      maxCost - this.used("maxCost") - held.cost,
      demand.wanted,
      (outputTokens) => pricedCost(prices, demand.usageOf(model, outputTokens)),
    );
  }
}
