import type {
  RateRequest,
  RateTurn,
  RateWait,
  RateWindow,
  WindowLimit,
} from "../../../contracts/rate-window.js";
import type { SqlValue } from "../../shared/sql/sql-database.js";
import type { SqlNetwork } from "./sql-network.js";
import { uuidGenerator } from "../../../util/runtime.js";
import { indexedKey } from "../../shared/sql/sql-text.js";

/** Time in ms after which the places and reserved tokens of a dead process are released. */
const HELD_MS = 60_000;
const IN_FLIGHT_MS = 15 * 60_000;

/** Windows in tables, shared by the calls of all processes. */
export class SqlRateWindow implements RateWindow {
  readonly #network: SqlNetwork;
  /** Reports of calls of this process. Later calls wait for them. */
  readonly #reports = new Set<Promise<void>>();

  constructor(network: SqlNetwork) {
    this.#network = network;
  }

  async take({ limits, tokens }: RateRequest): Promise<RateTurn | RateWait> {
    await Promise.all(this.#reports);
    const turn = uuidGenerator.next();
    const numbers = (of: (limit: WindowLimit) => number | undefined): readonly string[] =>
      limits.map((limit) => String(of(limit) ?? ""));
    const rows = await this.#network.queryOnce(
      `select open_ms::text, least_ms::text from "${this.#network.schema}".take_turn(
        $1::text[], $2::float8[], $3::float8[],
        array(select nullif(most, '')::float8 from unnest($4::text[]) with ordinality as t (most, n) order by n),
        $5::float8, $6, $7::float8
      )`,
      [
        limits.map(({ key }) => indexedKey(key)),
        numbers(({ limit }) => limit.requests),
        numbers(({ limit }) => limit.periodMs),
        numbers(({ limit }) => limit.tokens),
        tokens,
        turn,
        HELD_MS,
      ],
    );
    if (rows.length === 0)
      return new SqlTurn(this.#network, turn, limits, (report) => this.#track(report));
    const ms = (column: string | null | undefined): number =>
      typeof column === "string" ? Number(column) : Number.POSITIVE_INFINITY;
    return {
      waits: rows.map((row) => ({ openMs: ms(row["open_ms"]), atLeastMs: ms(row["least_ms"]) })),
    };
  }

  /** Records a report until it has ended. `report` does not reject. */
  #track(report: Promise<void>): void {
    this.#reports.add(report);
    void report.then(() => this.#reports.delete(report));
  }
}

/** A place in all windows of a call. Reports are sent in order. */
class SqlTurn implements RateTurn {
  readonly #network: SqlNetwork;
  readonly #where: readonly SqlValue[];
  /** Milliseconds for which the windows count an ended call. */
  readonly #periods: readonly string[];
  #hasBegun = false;
  readonly #track: (report: Promise<void>) => void;
  #reports: Promise<void> = Promise.resolve();

  constructor(
    network: SqlNetwork,
    turn: string,
    limits: readonly WindowLimit[],
    track: (report: Promise<void>) => void,
  ) {
    this.#network = network;
    this.#track = track;
    this.#where = [limits.map(({ key }) => indexedKey(key)), turn];
    this.#periods = limits.map(({ limit }) => String(limit.periodMs));
  }

  begin(): void {
    this.#hasBegun = true;
    this.#report(
      `update ${this.#table} set started_at = clock_timestamp(), until = clock_timestamp() + $3::float8 * interval '1 ms'`,
      IN_FLIGHT_MS,
    );
  }

  end(usedTokens: number): void {
    if (this.#hasBegun)
      this.#report(
        `update ${this.#table} set ended_at = clock_timestamp(), used = $3::float8,
          until = clock_timestamp() + (select max(p.ms) from unnest($1::text[], $4::float8[]) as p (k, ms) where p.k = window_key) * interval '1 ms'`,
        usedTokens,
        this.#periods,
      );
    else this.#report(`delete from ${this.#table}`);
  }

  get #table(): string {
    return `"${this.#network.schema}".rate_calls`;
  }

  /**
   * Reports a change of the call. After a failed report, the place stays reserved until the limit
   * for dead processes.
   */
  #report(change: string, ...values: readonly SqlValue[]): void {
    const statement = `${change} where window_key = any($1::text[]) and turn = $2`;
    this.#reports = this.#reports
      .then(() => this.#network.query(statement, [...this.#where, ...values]))
      .then(
        () => undefined,
        () => undefined,
      );
    this.#track(this.#reports);
  }
}
