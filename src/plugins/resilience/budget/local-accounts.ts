import type {
  BudgetAccount,
  BudgetAccountRequest,
  BudgetAccounts,
  BudgetAmount,
  BudgetReservation,
  BudgetState,
} from "../../../contracts/budget-accounts.js";
import { minus, NOTHING, plus } from "./amount.js";

/**
 * Accounts in the memory of this process. Each opening creates an account, because runs do not
 * share accounts.
 */
export class LocalBudgetAccounts implements BudgetAccounts {
  open(request: BudgetAccountRequest): LocalBudgetAccount {
    return new LocalBudgetAccount(request);
  }
}

/** An account that one process uses. */
export class LocalBudgetAccount implements BudgetAccount {
  readonly #maxTokens: number;
  readonly #maxCost: number;
  readonly #open = new Set<LocalReservation>();
  #state: BudgetState;

  constructor({ maxTokens, maxCost, earlier }: Omit<BudgetAccountRequest, "key">) {
    this.#maxTokens = maxTokens ?? Number.POSITIVE_INFINITY;
    this.#maxCost = maxCost ?? Number.POSITIVE_INFINITY;
    this.#state = { used: earlier, reserved: NOTHING };
  }

  get state(): BudgetState {
    return this.#state;
  }

  reserve(amount: BudgetAmount): BudgetReservation | undefined {
    const { used, reserved } = this.#state;
    const fits =
      used.tokens + reserved.tokens + amount.tokens <= this.#maxTokens &&
      used.cost + reserved.cost + amount.cost <= this.#maxCost;
    if (!fits) return undefined;
    const reservation = new LocalReservation(this, amount);
    this.#open.add(reservation);
    this.#state = { used, reserved: plus(reserved, amount) };
    return reservation;
  }

  settle(reservation: LocalReservation, used: BudgetAmount): void {
    if (!this.#open.delete(reservation)) return;
    const { state } = this;
    // The sum of released fractions may differ from zero.
    const reserved = this.#open.size === 0 ? NOTHING : minus(state.reserved, reservation.amount);
    this.#state = { used: plus(state.used, used), reserved };
  }
}

class LocalReservation implements BudgetReservation {
  constructor(
    readonly account: LocalBudgetAccount,
    readonly amount: BudgetAmount,
  ) {}

  settle(used: BudgetAmount): void {
    this.account.settle(this, used);
  }
}
