import type {
  BudgetAccount,
  BudgetAccountRequest,
  BudgetAccounts,
  BudgetAmount,
  BudgetReservation,
  BudgetState,
  SharedBudget,
} from "../../../contracts/budget-accounts.js";
import type { Broker } from "./broker.js";
import { uuidGenerator } from "../../../util/runtime.js";
import { LimitRecords } from "./limit-records.js";

/** An account in the form of the bucket. Instants are milliseconds by the clock of the server. */
interface AccountRecord {
  readonly tokens: number;
  readonly cost: number;
  /** Unsettled reservations, by their ids. */
  readonly open: Readonly<Record<string, readonly [until: number, tokens: number, cost: number]>>;
}

const NO_AMOUNT: AccountRecord = Object.freeze({ tokens: 0, cost: 0, open: {} });
/**
 * Time in ms for which an account is kept after its last change. A reservation is kept for this
 * time after the end of its lease.
 */
const ACCOUNT_MS = 30 * 24 * 3_600_000;
const UNSETTLED_MS = 24 * 3_600_000;

/** Changes the account. Returns the answer. */
type AccountChange = (
  record: AccountRecord,
  now: number,
) => { readonly next?: AccountRecord; readonly answer: boolean };

/** Accounts in a bucket, shared by the runs of all processes. */
export class NatsBudgets implements BudgetAccounts {
  readonly #records: LimitRecords<AccountRecord>;
  readonly #leaseMs: number;

  constructor(broker: Broker, leaseMs: number) {
    this.#records = new LimitRecords(broker, "budget", NO_AMOUNT);
    this.#leaseMs = leaseMs;
  }

  async open(request: BudgetAccountRequest): Promise<BudgetAccount> {
    const { earlier } = request;
    const account = new NatsAccount(this.#records, request, this.#leaseMs);
    await account.apply((record) => ({
      answer: true,
      next: {
        ...record,
        tokens: Math.max(record.tokens, earlier.tokens),
        cost: Math.max(record.cost, earlier.cost),
      },
    }));
    return account;
  }
}

class NatsAccount implements BudgetAccount {
  readonly shared: SharedBudget;
  readonly #records: LimitRecords<AccountRecord>;
  readonly #request: BudgetAccountRequest;
  readonly #ids = new WeakMap<BudgetReservation, string>();
  #state: BudgetState = { used: { tokens: 0, cost: 0 }, reserved: { tokens: 0, cost: 0 } };

  constructor(
    records: LimitRecords<AccountRecord>,
    request: BudgetAccountRequest,
    leaseMs: number,
  ) {
    this.#records = records;
    this.#request = request;
    this.shared = Object.freeze({
      leaseMs,
      renew: (reservations: readonly BudgetReservation[]) => this.#renew(reservations, leaseMs),
      refresh: async () => void (await this.apply(() => ({ answer: true }))),
    });
  }

  get state(): BudgetState {
    return this.#state;
  }

  async reserve({ tokens, cost }: BudgetAmount): Promise<BudgetReservation | undefined> {
    const id = uuidGenerator.next();
    const { maxTokens = Number.POSITIVE_INFINITY, maxCost = Number.POSITIVE_INFINITY } =
      this.#request;
    const { leaseMs } = this.shared;
    const fits = await this.apply((record, now) => {
      // An earlier attempt reserved the amount, but its answer was lost.
      if (id in record.open) return { answer: true };
      const { used, reserved } = stateOf(record, now);
      if (used.tokens + reserved.tokens + tokens > maxTokens) return { answer: false };
      if (used.cost + reserved.cost + cost > maxCost) return { answer: false };
      const open = { ...record.open, [id]: [now + leaseMs, tokens, cost] as const };
      return { answer: true, next: { ...record, open } };
    });
    if (!fits) return undefined;
    const reservation: BudgetReservation = { settle: (used) => this.#settle(id, used) };
    this.#ids.set(reservation, id);
    return reservation;
  }

  /** Changes the account, and reads its state. */
  apply(change: AccountChange): Promise<boolean> {
    return this.#records
      .change(this.#request.key, ACCOUNT_MS, (record, now) => {
        const { next, answer } = change(record, now);
        const state = stateOf(next ?? record, now);
        if (next === undefined) return { answer: { answer, state } };
        return { answer: { answer, state }, next: withoutForgotten(next, now) };
      })
      .then(({ answer, state }) => {
        this.#state = state;
        return answer;
      });
  }

  /** Settles a reservation. Counts once, because the reservation is then removed. */
  async #settle(id: string, { tokens, cost }: BudgetAmount): Promise<void> {
    await this.apply((record) => {
      const { [id]: reservation, ...open } = record.open;
      if (reservation === undefined) return { answer: true };
      return {
        answer: true,
        next: { tokens: record.tokens + tokens, cost: record.cost + cost, open },
      };
    });
  }

  async #renew(reservations: readonly BudgetReservation[], leaseMs: number): Promise<void> {
    const ids = new Set(reservations.flatMap((one) => this.#ids.get(one) ?? []));
    await this.apply((record, now) => {
      const open = Object.entries(record.open).map(([id, [until, tokens, cost]]) => {
        const renewed = ids.has(id) && until > now ? now + leaseMs : until;
        return [id, [renewed, tokens, cost]] as const;
      });
      return { answer: true, next: { ...record, open: Object.fromEntries(open) } };
    });
  }
}

function stateOf({ tokens, cost, open }: AccountRecord, now: number): BudgetState {
  const held = Object.values(open).filter(([until]) => until > now);
  const reserved = {
    tokens: held.reduce((sum, [, each]) => sum + each, 0),
    cost: held.reduce((sum, [, , each]) => sum + each, 0),
  };
  return Object.freeze({ used: Object.freeze({ tokens, cost }), reserved });
}

/** Returns the record without reservations of processes that died long ago. */
function withoutForgotten(record: AccountRecord, now: number): AccountRecord {
  const open = Object.entries(record.open).filter(([, [until]]) => until + UNSETTLED_MS > now);
  return { ...record, open: Object.fromEntries(open) };
}
