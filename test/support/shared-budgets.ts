import type {
  BudgetAccount,
  BudgetAccountRequest,
  BudgetAccounts,
  BudgetAmount,
  BudgetReservation,
  BudgetState,
} from "agentensemble";

/** The faults of a store that tests must detect. */
export type BudgetFault =
  | "adds earlier usage"
  | "counts settlements twice"
  | "drops renewed reservations"
  | "forgets earlier usage"
  | "forgets late settlements"
  | "uses one account for all"
  | "ignores cost"
  | "ignores limits"
  | "keeps reservations of dead processes"
  | "keeps settled amounts reserved"
  | "checks before it reserves"
  | "never refreshes"
  | "refuses the last part"
  | "reserves refused amounts"
  | "returns an old state with a refusal"
  | "stops at the reserved amount";

interface Row {
  used: BudgetAmount;
  /** By number; a reservation without an entry is settled or has ended. */
  readonly held: Map<number, { readonly amount: BudgetAmount; until: number }>;
  readonly settled: Set<number>;
}

const ZERO: BudgetAmount = { tokens: 0, cost: 0 };
const sum = (a: BudgetAmount, b: BudgetAmount): BudgetAmount => ({
  tokens: a.tokens + b.tokens,
  cost: a.cost + b.cost,
});
const tick = (): Promise<void> => new Promise(setImmediate);

/**
 * Accounts in one place that several processes use. `client()` returns the view of one process.
 * Answers after a tick, like an external store.
 */
export class SharedBudgets {
  /** Of the accounts that were opened, in order. */
  readonly keys: string[] = [];
  /** The number of reservations in each renewal. */
  readonly renewals: number[] = [];
  readonly #rows = new Map<string, Row>();
  readonly #faults: ReadonlySet<BudgetFault>;
  #next = 0;

  constructor(
    readonly leaseMs = 60_000,
    faults: readonly BudgetFault[] = [],
    readonly now: () => number = () => performance.now(),
  ) {
    this.#faults = new Set(faults);
  }

  client(): BudgetAccounts {
    return {
      open: async (request) => {
        await tick();
        this.keys.push(request.key);
        return this.#account(this.#opened(request), request);
      },
    };
  }

  /** The state of an account that was opened. */
  stateOf(key: string): BudgetState {
    const row = this.#rows.get(key);
    if (row === undefined) throw new Error(`No account ${key}`);
    return this.#read(row);
  }

  has(fault: BudgetFault): boolean {
    return this.#faults.has(fault);
  }

  #opened({ key, earlier }: BudgetAccountRequest): Row {
    const name = this.has("uses one account for all") ? "" : key;
    const row = this.#rows.get(name) ?? { used: ZERO, held: new Map(), settled: new Set() };
    this.#rows.set(name, row);
    if (this.has("adds earlier usage")) row.used = sum(row.used, earlier);
    else if (!this.has("forgets earlier usage"))
      row.used = {
        tokens: Math.max(row.used.tokens, earlier.tokens),
        cost: Math.max(row.used.cost, earlier.cost),
      };
    return row;
  }

  #read(row: Row): BudgetState {
    if (!this.has("keeps reservations of dead processes"))
      for (const [id, { until }] of row.held) if (until <= this.now()) row.held.delete(id);
    return {
      used: row.used,
      reserved: [...row.held.values()].map((h) => h.amount).reduce(sum, ZERO),
    };
  }

  #fits(row: Row, amount: BudgetAmount, { maxTokens, maxCost }: BudgetAccountRequest): boolean {
    const { used, reserved } = this.#read(row);
    const { tokens, cost } = sum(sum(used, reserved), amount);
    const last = this.has("refuses the last part") ? 1 : 0;
    return (
      this.has("ignores limits") ||
      (tokens + last <= (maxTokens ?? Infinity) &&
        (this.has("ignores cost") || cost <= (maxCost ?? Infinity)))
    );
  }

  #account(row: Row, request: BudgetAccountRequest): BudgetAccount {
    let state = this.#read(row);
    const ids = new Map<BudgetReservation, number>();
    const refresh = (): void => void (state = this.#read(row));
    const add = (amount: BudgetAmount): BudgetReservation => {
      const id = this.#next++;
      row.held.set(id, { amount, until: this.now() + this.leaseMs });
      const reservation = { settle: (used: BudgetAmount) => settle(id, amount, used) };
      ids.set(reservation, id);
      refresh();
      return reservation;
    };
    const settle = async (id: number, amount: BudgetAmount, used: BudgetAmount): Promise<void> => {
      await tick();
      const isLate = !row.held.has(id) && !row.settled.has(id);
      if (!this.has("keeps settled amounts reserved")) row.held.delete(id);
      const counts = this.has("counts settlements twice") || !row.settled.has(id);
      row.settled.add(id);
      const most = this.has("stops at the reserved amount") ? amount.tokens : Infinity;
      if (counts && !(isLate && this.has("forgets late settlements")))
        row.used = sum(row.used, { ...used, tokens: Math.min(used.tokens, most) });
      refresh();
    };
    return {
      get state() {
        return state;
      },
      reserve: async (amount) => {
        const before = this.#fits(row, amount, request);
        await tick();
        const fits = this.has("checks before it reserves")
          ? before
          : this.#fits(row, amount, request);
        if (fits) return add(amount);
        if (this.has("reserves refused amounts")) add(amount);
        if (!this.has("returns an old state with a refusal")) refresh();
        return undefined;
      },
      shared: {
        leaseMs: this.leaseMs,
        renew: async (reservations) => {
          await tick();
          this.renewals.push(reservations.length);
          if (this.has("drops renewed reservations")) return;
          this.#read(row);
          for (const reservation of reservations) {
            const held = row.held.get(ids.get(reservation) ?? -1);
            if (held !== undefined) held.until = this.now() + this.leaseMs;
          }
        },
        refresh: async () => {
          await tick();
          if (!this.has("never refreshes")) refresh();
        },
      },
    };
  }
}
