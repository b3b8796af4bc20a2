import type { Clock } from "../../contracts/runtime.js";
import { messageOf, toError } from "../../util/errors.js";
import { emitProcessWarning } from "../../util/process-warning.js";

/** What people do on the dashboard. */
export type AuditAction =
  | "start"
  | "again"
  | "replay"
  | "cancel"
  | "resume"
  | "fork"
  | "settle"
  | "review"
  | "remove"
  | "baseline"
  | "export"
  | "sign-in-failed";

/** What a person did on the dashboard, or tried to do. */
export interface AuditEntry {
  /** An ISO instant. */
  readonly at: string;
  /** The name of the person; the address of a client that is not known. */
  readonly user: string;
  /**
   * `export`: a file was downloaded. `baseline`: a run became the baseline of its ensemble, or
   * ceased to be it. `sign-in-failed`: a wrong token, or none that the program knows.
   */
  readonly action: AuditAction;
  /** The id of the run or the review; the path of a request that was refused. */
  readonly subject: string;
  /** The decision, the reason, the kind of file. */
  readonly detail?: string | undefined;
}

/** A page of entries, newest first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** The `before` of the next page. */
  readonly next?: string | undefined;
}

const MAX_KEPT = 1_000;
const PAGE = 100;

/** The last 1,000 entries, in memory. */
export class AuditLog {
  readonly #clock: Pick<Clock, "now">;
  readonly #onAudit: ((entry: AuditEntry) => unknown) | undefined;
  readonly #entries: AuditEntry[] = [];
  #dropped = 0;

  constructor(clock: Pick<Clock, "now">, onAudit?: (entry: AuditEntry) => unknown) {
    this.#clock = clock;
    this.#onAudit = onAudit;
  }

  /** An error of `onAudit` becomes a process warning. */
  add(entry: Omit<AuditEntry, "at">): void {
    const whole = Object.freeze({ at: this.#clock.now().toISOString(), ...entry });
    this.#entries.push(whole);
    if (this.#entries.length > MAX_KEPT) {
      this.#entries.shift();
      this.#dropped++;
    }
    void this.#pass(whole);
  }

  /** `before`: the `next` of the page before; a larger number begins with the newest. */
  page(before: number): AuditPage {
    const end = Math.min(before - this.#dropped, this.#entries.length);
    const start = Math.max(0, end - PAGE);
    return {
      entries: this.#entries.slice(start, Math.max(0, end)).reverse(),
      ...(start > 0 && { next: String(start + this.#dropped) }),
    };
  }

  async #pass(entry: AuditEntry): Promise<void> {
    try {
      await this.#onAudit?.(entry);
    } catch (error) {
      emitProcessWarning(`dashboard onAudit failed: ${messageOf(toError(error))}`);
    }
  }
}
