import type { AuditEntry, AuditPage, RunStore } from "../../contracts/run-store.js";
import type { Clock } from "../../contracts/runtime.js";
import { messageOf, toError } from "../../util/errors.js";
import { emitProcessWarning } from "../../util/process-warning.js";

const MAX_KEPT = 1_000;
const PAGE = 100;

/**
 * Actions of users: the last 1,000 entries in memory, and all entries in a store that supports
 * them.
 */
export class AuditLog {
  readonly #clock: Pick<Clock, "now">;
  readonly #onAudit: ((entry: AuditEntry) => unknown) | undefined;
  readonly #store: RunStore | undefined;
  readonly #entries: AuditEntry[] = [];
  #dropped = 0;
  /** Resolves with the last started write. */
  #writes: Promise<void> = Promise.resolve();

  constructor(
    clock: Pick<Clock, "now">,
    o: {
      readonly onAudit?: ((entry: AuditEntry) => unknown) | undefined;
      readonly store?: RunStore | undefined;
    } = {},
  ) {
    this.#clock = clock;
    this.#onAudit = o.onAudit;
    this.#store = o.store?.appendAudit === undefined ? undefined : o.store;
  }

  /** Adds an entry. An error of `onAudit` or of the store is reported as a process warning. */
  add(entry: Omit<AuditEntry, "at">): void {
    const whole = Object.freeze({ at: this.#clock.now().toISOString(), ...entry });
    this.#entries.push(whole);
    if (this.#entries.length > MAX_KEPT) {
      this.#entries.shift();
      this.#dropped++;
    }
    void warned("onAudit", async () => this.#onAudit?.(whole));
    if (this.#store !== undefined)
      this.#writes = this.#writes.then(() =>
        warned("the audit in the store", async () => this.#store?.appendAudit?.(whole)),
      );
  }

  /**
   * Returns a page of entries. `before` is the `next` of the previous page. Without it, the page
   * begins with the newest entry.
   * @throws the errors of the store
   */
  async page(before?: number): Promise<AuditPage> {
    if (this.#store?.readAudit === undefined) return this.#latest(before);
    await this.#writes;
    return this.#store.readAudit(PAGE, before === undefined ? undefined : String(before));
  }

  /** Resolves when the store has all entries. */
  written(): Promise<void> {
    return this.#writes;
  }

  #latest(before = Number.POSITIVE_INFINITY): AuditPage {
    const end = Math.min(before - this.#dropped, this.#entries.length);
    const start = Math.max(0, end - PAGE);
    return {
      entries: this.#entries.slice(start, Math.max(0, end)).reverse(),
      ...(start > 0 && { next: String(start + this.#dropped) }),
    };
  }
}

async function warned(what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    emitProcessWarning(`dashboard ${what} failed: ${messageOf(toError(error))}`);
  }
}
