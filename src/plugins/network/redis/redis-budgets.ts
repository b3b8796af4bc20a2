import type {
  BudgetAccount,
  BudgetAccountRequest,
  BudgetAccounts,
  BudgetAmount,
  BudgetReservation,
  BudgetState,
  SharedBudget,
} from "../../../contracts/budget-accounts.js";
import type { RedisLink } from "./redis-link.js";
import type { RedisNames } from "./redis-names.js";
import { uuidGenerator } from "../../../util/runtime.js";
import {
  ACCOUNT_STATE,
  OPEN_ACCOUNT,
  RENEW_AMOUNTS,
  RESERVE_AMOUNT,
  SETTLE_AMOUNT,
} from "./budget-scripts.js";

/** Executes a step of an account in Redis. Returns whether an amount fits, and the state. */
type AccountStep = (
  script: string,
  ...args: readonly (string | number)[]
) => Promise<{ readonly fits: boolean; readonly state: BudgetState }>;

/** Accounts in Redis, shared by the runs of all processes. */
export class RedisBudgets implements BudgetAccounts {
  readonly #link: RedisLink;
  readonly #names: RedisNames;
  readonly #leaseMs: number;

  constructor(link: RedisLink, names: RedisNames, leaseMs: number) {
    this.#link = link;
    this.#names = names;
    this.#leaseMs = leaseMs;
  }

  async open(request: BudgetAccountRequest): Promise<BudgetAccount> {
    const keys = this.#names.budgetAccount(request.key);
    const step: AccountStep = (script, ...args) =>
      this.#link.use(async ({ redis }) => {
        // The scripts return texts.
        const answer = (await redis.eval(script, keys.length, ...keys, ...args)) as string[];
        const [fits, ...amounts] = answer;
        const [tokens = 0, cost = 0, heldTokens = 0, heldCost = 0] = amounts.map(Number);
        const state = { used: { tokens, cost }, reserved: { tokens: heldTokens, cost: heldCost } };
        return { fits: fits === "fits", state: Object.freeze(state) };
      });
    const { tokens, cost } = request.earlier;
    const { state } = await step(OPEN_ACCOUNT, tokens, cost);
    return new RedisAccount(step, { request, leaseMs: this.#leaseMs, state });
  }
}

class RedisAccount implements BudgetAccount {
  readonly shared: SharedBudget;
  readonly #step: AccountStep;
  readonly #request: BudgetAccountRequest;
  readonly #ids = new WeakMap<BudgetReservation, string>();
  #state: BudgetState;

  constructor(
    step: AccountStep,
    o: {
      readonly request: BudgetAccountRequest;
      readonly leaseMs: number;
      readonly state: BudgetState;
    },
  ) {
    this.#step = step;
    this.#request = o.request;
    this.#state = o.state;
    const { leaseMs } = o;
    this.shared = Object.freeze({
      leaseMs,
      renew: async (reservations: readonly BudgetReservation[]) => {
        const ids = reservations.flatMap((reservation) => this.#ids.get(reservation) ?? []);
        await this.#apply(RENEW_AMOUNTS, leaseMs, ...ids);
      },
      refresh: async () => {
        await this.#apply(ACCOUNT_STATE);
      },
    });
  }

  get state(): BudgetState {
    return this.#state;
  }

  async reserve({ tokens, cost }: BudgetAmount): Promise<BudgetReservation | undefined> {
    const id = uuidGenerator.next();
    const { maxTokens = "", maxCost = "" } = this.#request;
    const limits = [maxTokens, maxCost, this.shared.leaseMs];
    if (!(await this.#apply(RESERVE_AMOUNT, id, tokens, cost, ...limits))) return undefined;
    const reservation: BudgetReservation = {
      settle: async (used) => {
        await this.#apply(SETTLE_AMOUNT, id, used.tokens, used.cost);
      },
    };
    this.#ids.set(reservation, id);
    return reservation;
  }

  /** Returns whether an amount fits. */
  async #apply(script: string, ...args: readonly (string | number)[]): Promise<boolean> {
    const { fits, state } = await this.#step(script, ...args);
    this.#state = state;
    return fits;
  }
}
