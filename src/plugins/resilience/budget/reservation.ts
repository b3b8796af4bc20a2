import type { BudgetAmount } from "../../../contracts/budget-accounts.js";
import type { OutputAllowance } from "../../../contracts/hooks.js";
import type { AgentEnsembleError } from "../../../contracts/errors.js";
import type { HookRun } from "../../../contracts/run.js";
import type { ChatModel } from "../../../contracts/chat-model.js";
import type { CostConfiguration } from "../../../contracts/cost.js";
import type { UsageRecord } from "../../../contracts/usage.js";
import type { Awaitable } from "../../../contracts/types.js";
import type { Account } from "./account.js";
import type { Demand } from "./demand.js";
import { NOTHING } from "./amount.js";
import { allOf, passOn } from "../../../util/awaitable.js";
import { pricedCost } from "./pricing.js";
import { reserveAll } from "./reserve-all.js";

/** The reservation of one call in flight. It is the allowance of the call. */
export class Reservation implements OutputAllowance {
  /** Whether all policies have accepted the call. */
  begun = false;
  /** Stops watching the call's signal. */
  unwatch: () => unknown = () => undefined;
  #settled = false;

  constructor(
    readonly demand: Demand,
    readonly model: ChatModel,
    readonly maxOutputTokens: number,
    readonly accounts: readonly Account[],
  ) {}

  /**
   * Reserves the amount in all accounts or in none. Returns whether it did.
   * @throws ValidationError without a price; LimitStoreError; the reason of the signal of the call.
   */
  take(): Awaitable<boolean> {
    const { demand, model, maxOutputTokens } = this;
    const usage = demand.usageOf(model, maxOutputTokens);
    const tokens = demand.inputTokens + maxOutputTokens;
    const parts = this.accounts.map((account) => {
      const { costPrices } = account;
      const cost = costPrices === undefined ? 0 : pricedCost(costPrices, usage);
      return { account, amount: { tokens, cost } };
    });
    return reserveAll(this, parts, demand.call.signal);
  }

  /** Whether a tap of this call may have started `run` and may be waiting for it. */
  mayWaitFor(run: HookRun): boolean {
    if (this.begun) return false;
    for (let { parent } = run; parent !== undefined; { parent } = parent)
      if (parent === this.demand.call.run) return true;
    return false;
  }

  /** Releases the reservation of a call that was not made. */
  release(): Awaitable<void> {
    return this.#settle(() => NOTHING);
  }

  /**
   * Counts the usage. If its price is unknown, the reserved cost counts. `more` is further usage
   * that the vendor reported.
   */
  settle(
    inputTokens: number,
    outputTokens: number,
    more: Partial<UsageRecord> = {},
  ): Awaitable<void> {
    const tokens = inputTokens + outputTokens;
    return this.#settle(({ costPrices, reservations }) => {
      if (costPrices === undefined) return { tokens, cost: 0 };
      return {
        tokens,
        cost:
          this.#cost(costPrices, outputTokens, { ...more, inputTokens }) ??
          reservations.get(this)?.amount.cost ??
          0,
      };
    });
  }

  #settle(used: (account: Account) => BudgetAmount): Awaitable<void> {
    if (this.#settled) return undefined;
    this.#settled = true;
    const settled = allOf(this.accounts.map((account) => account.settle(this, used(account))));
    return passOn(settled, () => undefined);
  }

  /**
   * Prices the usage by the vendor's model name, as in the ledger. Without a price for it, uses the
   * name in the request.
   */
  #cost(
    prices: CostConfiguration,
    outputTokens: number,
    more: Partial<UsageRecord>,
  ): number | undefined {
    const { modelId: _exact, ...others } = more;
    for (const named of [more, others]) {
      try {
        return pricedCost(prices, this.demand.usageOf(this.model, outputTokens, named));
      } catch {
        // A call without a known price was refused earlier. The model name in the response may
        // still lack a price.
      }
    }
    return undefined;
  }
}

/** A refused reservation, kept until the policies run. */
export class Refusal implements OutputAllowance {
  readonly maxOutputTokens = 0;
  constructor(readonly error: AgentEnsembleError) {}
}
