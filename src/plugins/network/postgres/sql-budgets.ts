import type {
  BudgetAccount,
  BudgetAccountRequest,
  BudgetAccounts,
  BudgetAmount,
  BudgetReservation,
  BudgetState,
  SharedBudget,
} from "../../../contracts/budget-accounts.js";
import type { SqlRow, SqlValue } from "../../shared/sql/sql-database.js";
import type { SqlNetwork } from "./sql-network.js";
import { uuidGenerator } from "../../../util/runtime.js";
import { indexedKey } from "../../shared/sql/sql-text.js";

const STATE = "used_tokens::text, used_cost::text, held_tokens::text, held_cost::text";

/** Accounts in tables, shared by the runs of all processes. */
export class SqlBudgets implements BudgetAccounts {
  readonly #network: SqlNetwork;
  readonly #leaseMs: number;

  constructor(network: SqlNetwork, leaseMs: number) {
    this.#network = network;
    this.#leaseMs = leaseMs;
  }

  async open(request: BudgetAccountRequest): Promise<BudgetAccount> {
    const { schema } = this.#network;
    const key = indexedKey(request.key);
    const { tokens, cost } = request.earlier;
    await this.#network.query(
      `insert into "${schema}".budgets as b (account, tokens, cost) values ($1, $2::float8, $3::float8)
      on conflict (account) do update set tokens = greatest(b.tokens, excluded.tokens), cost = greatest(b.cost, excluded.cost),
        updated_at = clock_timestamp() returning account`,
      [key, tokens, cost],
    );
    const account = new SqlAccount(this.#network, key, request, this.#leaseMs);
    await account.shared.refresh();
    return account;
  }
}

class SqlAccount implements BudgetAccount {
  readonly shared: SharedBudget;
  readonly #network: SqlNetwork;
  readonly #key: string;
  readonly #limits: readonly SqlValue[];
  readonly #leaseMs: number;
  #state: BudgetState = { used: { tokens: 0, cost: 0 }, reserved: { tokens: 0, cost: 0 } };

  constructor(
    network: SqlNetwork,
    key: string,
    { maxTokens, maxCost }: BudgetAccountRequest,
    leaseMs: number,
  ) {
    this.#network = network;
    this.#key = key;
    this.#limits = [maxTokens, maxCost].map((limit) => String(limit ?? ""));
    this.#leaseMs = leaseMs;
    this.shared = Object.freeze({
      leaseMs,
      renew: (reservations: readonly BudgetReservation[]) => this.#renew(reservations),
      refresh: () => this.#refresh(),
    });
  }

  get state(): BudgetState {
    return this.#state;
  }

  async reserve({ tokens, cost }: BudgetAmount): Promise<BudgetReservation | undefined> {
    const id = uuidGenerator.next();
    const [row] = await this.#network.queryOnce(
      `select fits::text, ${STATE} from "${this.#network.schema}".reserve_amount(
        $1, $2, $3::float8, $4::float8, nullif($5, '')::float8, nullif($6, '')::float8, $7::float8
      )`,
      [this.#key, id, tokens, cost, ...this.#limits, this.#leaseMs],
    );
    this.#read(row);
    if (row?.["fits"] !== "true") return undefined;
    return new SqlReservation(id, (used) => this.#settle(id, used));
  }

  async #settle(id: string, { tokens, cost }: BudgetAmount): Promise<void> {
    const [row] = await this.#network.query(
      `select ${STATE} from "${this.#network.schema}".settle_amount($1, $2, $3::float8, $4::float8)`,
      [this.#key, id, tokens, cost],
    );
    this.#read(row);
  }

  async #renew(reservations: readonly BudgetReservation[]): Promise<void> {
    const ids = reservations.flatMap((one) => (one instanceof SqlReservation ? [one.id] : []));
    await this.#network.query(
      `update "${this.#network.schema}".reservations set until = clock_timestamp() + $2::float8 * interval '1 ms'
      where id = any($1::text[]) and until > clock_timestamp() returning id`,
      [ids, this.#leaseMs],
    );
  }

  async #refresh(): Promise<void> {
    const [row] = await this.#network.query(
      `select ${STATE} from "${this.#network.schema}".account_state($1)`,
      [this.#key],
    );
    this.#read(row);
  }

  #read(row: SqlRow | undefined): void {
    if (row === undefined) return;
    const amount = (kind: string): BudgetAmount =>
      Object.freeze({ tokens: Number(row[`${kind}_tokens`]), cost: Number(row[`${kind}_cost`]) });
    this.#state = Object.freeze({ used: amount("used"), reserved: amount("held") });
  }
}

class SqlReservation implements BudgetReservation {
  constructor(
    readonly id: string,
    readonly settle: (used: BudgetAmount) => Promise<void>,
  ) {}
}
