import type { BudgetAmount } from "../contracts/budget-accounts.js";
import type { EnsembleEvent } from "../contracts/events.js";
import type { UsageRecord } from "../contracts/usage.js";
import type { TurnOwner } from "../plugins/shared/thread-tags.js";
import type { TurnQuotas } from "./turn-quotas.js";

/**
 * Counts the model calls of one turn in its quotas. A call of the turn's run is counted when it
 * ends. It therefore counts even if the process is killed later. Calls of joined runs are counted
 * when the turn ends.
 */
export class TurnMeter {
  readonly #quotas: TurnQuotas;
  readonly #turn: TurnOwner;
  readonly #writes: Promise<void>[] = [];
  #counted: BudgetAmount = { tokens: 0, cost: 0 };
  #hasBegun = false;

  constructor(quotas: TurnQuotas, turn: TurnOwner) {
    this.#quotas = quotas;
    this.#turn = turn;
  }

  /**
   * Counts a call that has ended. A journal reports the calls of earlier executions before the turn
   * begins.
   */
  listen(event: EnsembleEvent): void {
    if (event.type === "turn_started") this.#hasBegun = true;
    else if (event.type === "usage_recorded" && this.#hasBegun && isNewCall(event))
      this.#count(this.#quotas.amountOf([event]));
  }

  /** Counts the other calls, except calls of earlier executions. Never rejects. */
  async end(ledger: readonly UsageRecord[], earlier: readonly UsageRecord[]): Promise<void> {
    const known = new Set(earlier);
    const made = ledger.filter((usage) => isNewCall(usage) && !known.has(usage));
    const { tokens, cost } = this.#quotas.amountOf(made);
    this.#count({ tokens: tokens - this.#counted.tokens, cost: cost - this.#counted.cost });
    await Promise.all(this.#writes);
  }

  #count(spent: BudgetAmount): void {
    const { tokens, cost } = this.#counted;
    this.#counted = { tokens: tokens + spent.tokens, cost: cost + spent.cost };
    if (spent.tokens > 0 || spent.cost > 0)
      this.#writes.push(this.#quotas.spend(this.#turn, spent));
  }
}

/** A recorded call counts: a replay is then refused at the same turn. */
function isNewCall({ outcome, recorded }: UsageRecord): boolean {
  return outcome !== "answered" || recorded === true;
}
