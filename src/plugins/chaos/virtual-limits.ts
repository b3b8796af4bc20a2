import type { HookRun } from "../../contracts/run.js";
import type { OwnedRateLimit, Reject } from "../../contracts/hooks.js";
import { RateLimitTimeoutError } from "../../contracts/errors.js";
import { reject } from "../../contracts/hooks.js";
import { LimitWindow } from "../shared/rate-limits/limit-window.js";
import { withInnerLimits } from "../shared/rate-limits/rate-limited.js";
import type { VirtualTime } from "../shared/virtual-time.js";

/** The delay of a call that waits for tokens of calls in flight, in milliseconds. */
const RECHECK_MS = 250;

/** Applies rate limits in virtual time. Each run begins with unused limits. */
export class VirtualLimits {
  readonly #windows = new WeakMap<HookRun, Map<object, LimitWindow>>();
  readonly #waitedMs = new WeakMap<HookRun, number>();

  constructor(readonly time: VirtualTime) {}

  /** The total wait of the calls of a run, in milliseconds. */
  waitedMs(run: HookRun): number {
    return this.#waitedMs.get(run) ?? 0;
  }

  /**
   * Waits until the limits allow a call to start, and counts the call. `tokens` is the estimated
   * input, reserved until `end`.
   */
  async start(
    run: HookRun,
    owned: readonly OwnedRateLimit[],
    tokens: number,
    signal: AbortSignal,
  ): Promise<Reject | ((usedTokens: number) => void)> {
    const windows = withInnerLimits(owned).map((limit) => this.#windowOf(run, limit));
    const arrivedAt = this.time.monotonicMs();
    for (;;) {
      const now = this.time.monotonicMs();
      const openAt = Math.max(now, ...windows.map((window) => window.openAt(now)));
      const missed = windows.find((window) => {
        const deadline = arrivedAt + window.limit.waitTimeoutMs;
        return window.openAtBest(now) > deadline || (now >= deadline && window.openAt(now) > now);
      });
      if (missed !== undefined) {
        this.#addWait(run, now - arrivedAt);
        const { limit } = missed;
        return reject(new RateLimitTimeoutError(limit, limit.waitTimeoutMs));
      }
      if (openAt > now) {
        const next = openAt === Infinity ? now + RECHECK_MS : openAt;
        await this.time.until(next, signal);
        continue;
      }
      this.#addWait(run, now - arrivedAt);
      for (const window of windows) {
        window.hold(tokens);
        window.begin(now);
      }
      return (used) => {
        for (const window of windows) window.settle(this.time.monotonicMs(), tokens, used);
      };
    }
  }

  #addWait(run: HookRun, ms: number): void {
    this.#waitedMs.set(run, this.waitedMs(run) + ms);
  }

  #windowOf(run: HookRun, { owner, limit }: OwnedRateLimit): LimitWindow {
    const windows = this.#windows.get(run) ?? new Map<object, LimitWindow>();
    this.#windows.set(run, windows);
    const window = windows.get(owner) ?? new LimitWindow(limit);
    windows.set(owner, window);
    return window;
  }
}
