import type {
  LimitWait,
  RateRequest,
  RateTurn,
  RateWait,
  RateWindow,
  WindowLimit,
} from "../../../contracts/rate-window.js";
import type { Broker } from "./broker.js";
import { uuidGenerator } from "../../../util/runtime.js";
import { LimitRecords } from "./limit-records.js";
import {
  begunCall,
  currentCalls,
  endedCall,
  heldPlace,
  IN_FLIGHT_MS,
  NO_CALLS,
  waitOfCall,
  type WindowState,
} from "./window-state.js";

/** Windows in a bucket, shared by the calls of all processes, by the clock of the server. */
export class NatsRateWindow implements RateWindow {
  readonly #records: LimitRecords<WindowState>;

  constructor(broker: Broker) {
    this.#records = new LimitRecords(broker, "rate", NO_CALLS);
  }

  async take({ limits, tokens }: RateRequest): Promise<RateTurn | RateWait> {
    const turn = uuidGenerator.next();
    // All windows are checked first, because a place that is returned at once would delay other
    // calls.
    const seen = limits.length === 1 ? [] : await Promise.all(limits.map((one) => this.#look(one)));
    if (seen.some(isClosed)) return { waits: seen };
    const held: WindowLimit[] = [];
    for (const one of ordered(limits)) {
      const wait = await this.#hold(one, turn, tokens);
      if (isClosed(wait)) {
        for (const other of held) this.#report(other, (state) => endedWithout(state, turn));
        return { waits: limits.map((limit, n) => (limit === one ? wait : (seen[n] ?? OPEN))) };
      }
      held.push(one);
    }
    return this.#turn(turn, limits);
  }

  #look({ key, limit }: WindowLimit): Promise<LimitWait> {
    return this.#records.change(key, limit.periodMs + IN_FLIGHT_MS, (state, now) => {
      const { periodMs } = limit;
      return { answer: waitOfCall(currentCalls(state, periodMs, now), limit, now) };
    });
  }

  #hold({ key, limit }: WindowLimit, turn: string, tokens: number): Promise<LimitWait> {
    const { periodMs } = limit;
    return this.#records.change(key, periodMs + IN_FLIGHT_MS, (state, now) => {
      const current = currentCalls(state, periodMs, now);
      // An earlier attempt may have been stored even though its answer was lost.
      const answer = turn in current.turns ? OPEN : waitOfCall(current, limit, now);
      if (isClosed(answer)) return { answer };
      return { answer, next: heldPlace(current, { turn, tokens, now }) };
    });
  }

  #turn(turn: string, limits: readonly WindowLimit[]): RateTurn {
    let hasBegun = false;
    const each = (change: (state: WindowState, periodMs: number, now: number) => WindowState) => {
      for (const one of limits)
        this.#report(one, (state, now) => change(state, one.limit.periodMs, now));
    };
    return {
      begin() {
        hasBegun = true;
        each((state, periodMs, now) => begunCall(state, turn, { periodMs, now }));
      },
      end: (usedTokens) =>
        each((state, periodMs, now) =>
          hasBegun
            ? endedCall(state, turn, { usedTokens, periodMs, now })
            : endedWithout(state, turn),
        ),
    };
  }

  /**
   * Reports a change of the call. After a failed report, the place stays reserved until the limit
   * for dead processes.
   */
  #report(
    { key, limit: { periodMs } }: WindowLimit,
    change: (state: WindowState, now: number) => WindowState,
  ): void {
    this.#records
      .change(key, periodMs + IN_FLIGHT_MS, (state, now) => ({
        answer: undefined,
        next: change(currentCalls(state, periodMs, now), now),
      }))
      .catch(() => undefined);
  }
}

const OPEN: LimitWait = Object.freeze({ openMs: 0, atLeastMs: 0 });

function isClosed({ openMs }: LimitWait): boolean {
  return openMs > 0;
}

/**
 * Returns the windows in a fixed order. Two calls lock the windows in the same order, so that one
 * of them gets all.
 */
function ordered(limits: readonly WindowLimit[]): readonly WindowLimit[] {
  return [...limits].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function endedWithout(state: WindowState, turn: string): WindowState {
  return endedCall(state, turn, { usedTokens: 0, periodMs: 0, now: 0 });
}
