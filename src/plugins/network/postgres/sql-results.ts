import type { ResultStore, WorkResponse } from "../../../contracts/network.js";
import type { SqlRow } from "../../shared/sql/sql-database.js";
import type { SqlNetwork } from "./sql-network.js";
import { ValidationError } from "../../../contracts/errors.js";
import { preview, requireDuration, requireFunction } from "../../../contracts/validation.js";
import { startTimer } from "../../../util/abort/timer.js";
import { deepFreeze, isObject } from "../../../util/objects.js";
import { jsonOf } from "../../shared/json-data.js";
import { fromColumn, toColumn } from "../../shared/sql/sql-text.js";
import { requireRequestId } from "../shared/work-request.js";

/** Interval in ms in which results are read without a notification. */
const LOOK_MS = 2_000;

type OnResult = (response: WorkResponse) => void;

/** The waiters for one result. */
interface ResultWaiters {
  readonly callbacks: Set<OnResult>;
  readonly leave: () => void;
}

/** Results as rows. The first inserted result is kept. */
export class SqlResults implements ResultStore {
  readonly #network: SqlNetwork;
  readonly #subscriptions = new Map<string, ResultWaiters>();
  #looking: Promise<void> | undefined;
  /** The ids of the next read. A read in progress may already have passed them. */
  #wanted = new Set<string>();
  #stopTimer: (() => void) | undefined;

  constructor(network: SqlNetwork) {
    this.#network = network;
    network.onClose(() => this.#end());
  }

  async store(requestId: string, response: WorkResponse, ttlMs: number): Promise<boolean> {
    requireRequestId(requestId);
    requireDuration("store() ttlMs", ttlMs ?? null);
    if (!isObject(response))
      throw new ValidationError(`A result must be an object, got: ${preview(response)}`);
    const rows = await this.#network.query(
      `insert into ${this.#table} as r (id, response, until) values ($1, $2, clock_timestamp() + $3::float8 * interval '1 ms')
      on conflict (id) do update set response = excluded.response, until = excluded.until
      where r.until <= clock_timestamp() returning id`,
      [toColumn(requestId), jsonOf("A result", response), ttlMs],
    );
    if (rows.length === 0) return false;
    this.#network.notifications.wake("result", requestId);
    return true;
  }

  async retrieve(requestId: string): Promise<WorkResponse | undefined> {
    const [row] = await this.#find([requestId]);
    return row === undefined ? undefined : keptResponse(row);
  }

  async forget(requestId: string): Promise<void> {
    await this.#network.query(`delete from ${this.#table} where id = $1 returning id`, [
      toColumn(requestId),
    ]);
  }

  async subscribe(requestId: string, callback: OnResult): Promise<() => void> {
    requireFunction("subscribe() callback", callback ?? null);
    const once: OnResult = (response) => callback(response); // the same callback may occur twice
    const known = this.#subscriptions.get(requestId);
    const subscription = known ?? this.#subscribed(requestId);
    subscription.callbacks.add(once);
    try {
      await this.#network.notifications.ready();
      await this.#look([requestId]);
    } catch (error) {
      this.#leave(requestId, once);
      throw error;
    }
    this.#lookLater();
    return () => this.#leave(requestId, once);
  }

  /** Number of requests with subscriptions. */
  get subscribed(): number {
    return this.#subscriptions.size;
  }

  /** Closes the whole backend, because its parts share their connections. */
  close(): Promise<void> {
    return this.#network.close();
  }

  get #table(): string {
    return `"${this.#network.schema}".results`;
  }

  async #find(ids: readonly string[]): Promise<readonly SqlRow[]> {
    return this.#network.query(
      `select id, response from ${this.#table} where id = any($1::text[]) and until > clock_timestamp()`,
      [ids.map(toColumn)],
    );
  }

  #subscribed(requestId: string): ResultWaiters {
    const leave = this.#network.notifications.on("result", requestId, () => {
      // The next read at the interval finds the result.
      this.#look([requestId]).catch(() => undefined);
    });
    const subscription = { callbacks: new Set<OnResult>(), leave };
    this.#subscriptions.set(requestId, subscription);
    return subscription;
  }

  /** Reads results, together with other requested results. */
  async #look(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#wanted.add(id);
    while (this.#looking !== undefined) await this.#looking.catch(() => undefined);
    if (this.#wanted.size === 0) return;
    const wanted = [...this.#wanted];
    this.#wanted = new Set();
    this.#looking = this.#announce(wanted);
    try {
      await this.#looking;
    } finally {
      this.#looking = undefined;
    }
  }

  async #announce(ids: readonly string[]): Promise<void> {
    for (const row of await this.#find(ids)) {
      const id = fromColumn(row["id"] ?? "");
      const subscription = this.#subscriptions.get(id);
      if (subscription === undefined) continue;
      this.#forgetSubscription(id, subscription);
      const response = keptResponse(row);
      for (const callback of subscription.callbacks) {
        try {
          callback(response);
        } catch {
          // A failing subscriber must not affect the store and other subscribers.
        }
      }
    }
  }

  #lookLater(): void {
    if (this.#stopTimer !== undefined || this.#subscriptions.size === 0) return;
    this.#stopTimer = startTimer(LOOK_MS, () => {
      this.#stopTimer = undefined;
      this.#look([...this.#subscriptions.keys()]).then(
        () => this.#lookLater(),
        () => this.#lookLater(),
      );
    });
  }

  #leave(requestId: string, callback: OnResult): void {
    const subscription = this.#subscriptions.get(requestId);
    if (subscription?.callbacks.delete(callback) === true && subscription.callbacks.size === 0)
      this.#forgetSubscription(requestId, subscription);
  }

  #forgetSubscription(requestId: string, { leave }: ResultWaiters): void {
    leave();
    this.#subscriptions.delete(requestId);
    if (this.#subscriptions.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #end(): void {
    for (const [id, subscription] of [...this.#subscriptions])
      this.#forgetSubscription(id, subscription);
  }
}

function keptResponse(row: SqlRow): WorkResponse {
  // The response was checked when it was stored.
  return deepFreeze(JSON.parse(row["response"] ?? "{}") as WorkResponse);
}
