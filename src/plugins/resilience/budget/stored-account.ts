import type {
  BudgetAccount,
  BudgetAmount,
  BudgetReservation,
  BudgetState,
} from "../../../contracts/budget-accounts.js";
import type { Awaitable } from "../../../contracts/types.js";
import { startTimer } from "../../../util/abort/timer.js";
import { passOn, recovered } from "../../../util/awaitable.js";
import { messageOf } from "../../../util/errors.js";
import { storeAnswer } from "../shared/store-answer.js";
import { NOTHING } from "./amount.js";
import { checkedAccount, checkedReservation, stateOfAccount } from "./checked-account.js";

const WHAT = "The account of a budget";

/** Options of a query of an account. */
interface AskOptions {
  readonly timeoutMs: number | undefined;
  /** Receives failures that fail no call. */
  readonly warn: (message: string) => void;
}

/**
 * An account from `Tokens.BudgetAccounts`. It applies a time limit, renews the leases of
 * reservations, and repeats failed settlements.
 */
export class StoredAccount {
  readonly #account: BudgetAccount;
  readonly #options: AskOptions;
  /** Unsettled reservations with leases. */
  readonly #leased = new Set<BudgetReservation>();
  /** The amounts of failed settlements. */
  readonly #unsettled = new Map<BudgetReservation, BudgetAmount>();
  #stopRenewal: (() => void) | undefined;
  #isClosed = false;
  #hasWarned = false;
  /** The last read state. */
  #state: BudgetState;

  /** @throws LimitStoreError for an invalid account. */
  constructor(account: BudgetAccount, options: AskOptions) {
    this.#account = checkedAccount(account);
    this.#options = options;
    this.#state = stateOfAccount(account);
  }

  get state(): BudgetState {
    return this.#state;
  }

  get isShared(): boolean {
    return this.#account.shared !== undefined;
  }

  /** Whether usage of calls has not been counted. */
  get isBehind(): boolean {
    return this.#unsettled.size > 0;
  }

  /**
   * Returns `undefined` if the amount does not fit.
   * @throws LimitStoreError; the reason of `signal`.
   */
  reserve(amount: BudgetAmount, signal?: AbortSignal): Awaitable<BudgetReservation | undefined> {
    const taken = storeAnswer(() => this.#account.reserve(amount), {
      what: WHAT,
      timeoutMs: this.#options.timeoutMs,
      signal,
      undo: (late) => late?.settle(NOTHING),
    });
    return passOn(taken, (given) => {
      const reservation = checkedReservation(given);
      if (reservation !== undefined && this.isShared) this.#lease(reservation);
      return recovered(
        () => {
          this.#read();
          return reservation;
        },
        (error) =>
          passOn(reservation && this.settle(reservation, NOTHING), () => {
            throw error;
          }),
      );
    });
  }

  /** Never throws. `catchUp` repeats a failed settlement. */
  settle(reservation: BudgetReservation, used: BudgetAmount): Awaitable<void> {
    return recovered(
      () => this.#settle(reservation, used),
      (error) => {
        this.#unsettled.set(reservation, used);
        this.#warn("does not count yet what a call used", error);
      },
    );
  }

  /** Repeats failed settlements. @throws LimitStoreError; the reason of `signal`. */
  async catchUp(signal?: AbortSignal): Promise<void> {
    for (const [reservation, used] of this.#unsettled) {
      await this.#settle(reservation, used, signal);
      this.#unsettled.delete(reservation);
    }
  }

  /** Reads the state of a shared account. @throws LimitStoreError; the reason of `signal`. */
  async refresh(signal: AbortSignal): Promise<void> {
    const { timeoutMs } = this.#options;
    await storeAnswer(() => this.#account.shared?.refresh(), { what: WHAT, timeoutMs, signal });
    this.#read();
  }

  /** Called when the run has ended. Leases of calls in flight expire. Their usage still counts. */
  close(): void {
    this.#isClosed = true;
    this.#stopRenewal?.();
  }

  #settle(
    reservation: BudgetReservation,
    used: BudgetAmount,
    signal?: AbortSignal,
  ): Awaitable<void> {
    const { timeoutMs } = this.#options;
    const settled = storeAnswer(() => reservation.settle(used), { what: WHAT, timeoutMs, signal });
    return passOn(settled, () => {
      this.#read();
      this.#leased.delete(reservation);
    });
  }

  /** @throws LimitStoreError */
  #read(): void {
    this.#state = stateOfAccount(this.#account);
  }

  #lease(reservation: BudgetReservation): void {
    this.#leased.add(reservation);
    this.#renewLater();
  }

  #renewLater(): void {
    const { shared } = this.#account;
    if (shared === undefined || this.#stopRenewal !== undefined || this.#isClosed) return;
    this.#stopRenewal = startTimer(shared.leaseMs / 3, () => {
      this.#stopRenewal = undefined;
      void this.#renew();
    });
  }

  async #renew(): Promise<void> {
    const { shared } = this.#account;
    if (shared === undefined || this.#leased.size === 0) return;
    const { timeoutMs = Number.POSITIVE_INFINITY } = this.#options;
    try {
      await storeAnswer(() => shared.renew([...this.#leased]), {
        what: WHAT,
        timeoutMs: Math.min(timeoutMs, shared.leaseMs / 3),
      });
    } catch (error) {
      this.#warn("may give away what is reserved for calls in flight", error);
    }
    if (this.#leased.size > 0) this.#renewLater();
  }

  /** Warns once, because later failures have the same cause. */
  #warn(what: string, error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.warn(`${WHAT} ${what}: ${messageOf(error)}`);
  }
}
