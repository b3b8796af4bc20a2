import type {
  RateRequest,
  RateTurn,
  RateWait,
  RateWindow,
  WindowLimit,
} from "../../../contracts/rate-window.js";
import { LimitWindow } from "../../shared/rate-limits/limit-window.js";

/** Windows in the memory of this process, one for each owner of a limit. */
export class LocalRateWindow implements RateWindow {
  readonly #windows = new WeakMap<object, LimitWindow>();

  take({ limits, tokens }: RateRequest): RateTurn | RateWait {
    const now = performance.now();
    const windows = limits.map((limit) => this.#windowOf(limit));
    if (windows.every((window) => window.openAt(now) <= now)) return new LocalTurn(windows, tokens);
    return {
      waits: windows.map((window) => ({
        openMs: window.openAt(now) - now,
        atLeastMs: window.openAtBest(now) - now,
      })),
    };
  }

  #windowOf({ owner, limit }: WindowLimit): LimitWindow {
    const window = this.#windows.get(owner) ?? new LimitWindow(limit);
    window.limit = limit;
    this.#windows.set(owner, window);
    return window;
  }
}

/** A place in all windows of a call. */
class LocalTurn implements RateTurn {
  #begun = false;

  constructor(
    readonly windows: readonly LimitWindow[],
    readonly tokens: number,
  ) {
    for (const window of windows) window.hold(tokens);
  }

  begin(): void {
    this.#begun = true;
    const now = performance.now();
    for (const window of this.windows) window.begin(now);
  }

  end(usedTokens: number): void {
    const now = performance.now();
    for (const window of this.windows) {
      if (this.#begun) window.settle(now, this.tokens, usedTokens);
      else window.giveBack(this.tokens);
    }
  }
}
