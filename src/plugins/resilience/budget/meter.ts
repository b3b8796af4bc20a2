import type { Ev } from "../../../contracts/events.js";
import type { Clock } from "../../../contracts/runtime.js";
import type { Account } from "./account.js";
import { startTimer } from "../../../util/abort/timer.js";

/** The minimum time in milliseconds between two `budget_changed` events of one budget. */
const PAUSE_MS = 250;

type State = Pick<Ev<"budget_changed">, "limits" | "used" | "reserved">;

/**
 * Emits the state of a budget to the run that has it. Emits at most four times a second, and always
 * the last state.
 */
export class Meter {
  #lastMs = Number.NEGATIVE_INFINITY;
  /** Stops the timer of a change that was not emitted yet. */
  #stopTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(
    readonly account: Account,
    readonly clock: Clock,
  ) {}

  opened(): void {
    const { owner, limits } = this.account;
    if (!owner.listens("budget_opened")) return;
    const action = limits.rejects
      ? "reject"
      : limits.downgradeTo === undefined
        ? "stop"
        : "downgrade";
    const { limits: shown, used } = this.#state();
    owner.emit({ type: "budget_opened", limits: shown, used, action });
  }

  changed(): void {
    const { owner } = this.account;
    if (this.#isClosed || this.#stopTimer !== undefined || !owner.listens("budget_changed")) return;
    const waitMs = this.#lastMs + PAUSE_MS - this.clock.monotonicMs();
    if (waitMs <= 0) this.#tell();
    else this.#stopTimer = startTimer(waitMs, () => this.#tell());
  }

  /** Called when the run has ended. Emits a pending change at once. */
  close(): void {
    this.#isClosed = true;
    if (this.#stopTimer === undefined) return;
    this.#stopTimer();
    this.#tell();
  }

  #tell(): void {
    this.#stopTimer = undefined;
    this.#lastMs = this.clock.monotonicMs();
    this.account.owner.emit({ type: "budget_changed", ...this.#state() });
  }

  #state(): State {
    const { account } = this;
    const { maxTokens, maxCost, maxDurationMs } = account.limits;
    const { tokens, cost } = account.reserved;
    const hasCost = maxCost !== undefined;
    return {
      limits: {
        ...(maxTokens !== undefined && { maxTokens }),
        ...(hasCost && { maxCost }),
        ...(maxDurationMs !== undefined && { maxDurationMs }),
      },
      used: {
        tokens: account.used("maxTokens"),
        ...(hasCost && { cost: account.used("maxCost") }),
        durationMs: account.used("maxDurationMs"),
      },
      reserved: { tokens, ...(hasCost && { cost }) },
    };
  }
}
