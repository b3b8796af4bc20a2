import type { ChatModel, ChatResponse } from "../../../contracts/chat-model.js";
import type { After, BorneRateLimit, LlmCall, Reject } from "../../../contracts/hooks.js";
import type { RateLimit } from "../../../contracts/rate-limit.js";
import { ModelCallError, RateLimitTimeoutError } from "../../../contracts/errors.js";
import { reject } from "../../../contracts/hooks.js";
import { emitEvent } from "../../../kernel/index.js";
import { AbortWatch } from "./abort-watch.js";
import { LimitWindow } from "./limit-window.js";
import { withInnerLimits } from "./rate-limited.js";
import { estimateInput, usedTokens } from "./token-estimate.js";
import { Turn } from "./turn.js";

/** How long a model rests after a 429 that does not say how long. */
const DEFAULT_PAUSE_MS = 1_000;
/** The longest that a timer can wait. */
const LONGEST_MS = 2_147_483_647;

interface Waiting {
  readonly turn: Turn;
  start(now: number): void;
  refuse(limit: RateLimit): void;
}

/**
 * Lets model calls start when all their rate limits allow it, in the order of their arrival; a call that waits for one limit does not hold up calls that
 * need only others. Windows belong to whoever bears the limit, so all runs of a kernel share them. One timer serves all that wait, and there is none when
 * nobody does.
 */
export class RateLimiter {
  readonly #windows = new WeakMap<object, LimitWindow>();
  readonly #pauses = new WeakMap<ChatModel, number>();
  /** Calls in flight, by the list of limits that the kernel makes for each attempt. */
  readonly #started = new WeakMap<readonly BorneRateLimit[], Turn>();
  readonly #waiting = new Set<Waiting>();
  readonly #aborts = new AbortWatch();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  /** Before a call: at once where nothing limits it, else when its turn has come or its patience ends. @throws the signal's reason when that ends the wait. */
  admit(call: LlmCall): undefined | Reject | Promise<Reject | undefined> {
    if (call.rateLimits.length === 0) return undefined;
    const now = performance.now();
    const turn = this.#turnOf(call, now);
    if (this.#waiting.size > 0 && turn.isOpen(now)) this.#advance(); // those who wait come first, should the timer be late
    if (turn.isOpen(now)) return void this.#start(call, turn, now);
    const missed = turn.missed(now);
    return missed === undefined ? this.#wait(call, turn, now) : refusal(missed);
  }

  /** Right before the model is called: what came after `admit` may have taken its time, and the period counts from here. */
  begin(call: LlmCall): void {
    if (call.rateLimits.length > 0) this.#started.get(call.rateLimits)?.begin(performance.now());
  }

  /** After a call, whatever its outcome. */
  settle(call: After<LlmCall, "response", ChatResponse>): void {
    if (call.rateLimits.length === 0) return;
    const turn = this.#started.get(call.rateLimits);
    if (turn === undefined) return; // it never got its turn
    this.#started.delete(call.rateLimits);
    const { outcome, model, error, response } = call;
    const now = performance.now();
    if (outcome === "answered" || outcome === "rejected") turn.giveBack();
    else turn.settle(now, response === undefined ? turn.tokens : usedTokens(response, turn.tokens));
    if (ModelCallError.isInstance(error) && error.code === "AE_MODEL_RATE_LIMITED") this.#pause(model, now, error.retryAfterMs);
    if (this.#waiting.size > 0 && (turn.tokens > 0 || outcome !== "ok")) this.#advance();
  }

  #turnOf({ rateLimits, model, request }: LlmCall, now: number): Turn {
    const borne = withInnerLimits(rateLimits);
    const windows = borne.map(({ bearer, limit }) => this.#windowOf(bearer, limit));
    const tokens = borne.some(({ limit }) => limit.tokens !== undefined) ? estimateInput(request) : 0;
    return new Turn(windows, tokens, now, () => this.#pauses.get(model) ?? 0);
  }

  #windowOf(bearer: object, limit: RateLimit): LimitWindow {
    const window = this.#windows.get(bearer) ?? new LimitWindow(limit);
    window.limit = limit;
    this.#windows.set(bearer, window);
    return window;
  }

  #start(call: LlmCall, turn: Turn, now: number): void {
    turn.take(now);
    this.#started.set(call.rateLimits, turn);
  }

  #wait(call: LlmCall, turn: Turn, now: number): Promise<Reject | undefined> {
    const { signal } = call;
    signal.throwIfAborted();
    const verdict = new Promise<Reject | undefined>((resolve, fail) => {
      const leave = (): void => {
        this.#waiting.delete(waiting);
        unwatch();
      };
      const giveUp = (): void => {
        leave();
        if (this.#waiting.size === 0) this.#disarm();
        fail(signal.reason);
      };
      const waiting: Waiting = {
        turn,
        start: (at) => {
          leave();
          this.#start(call, turn, at);
          resolve(undefined);
        },
        refuse: (limit) => {
          leave();
          resolve(refusal(limit));
        },
      };
      this.#waiting.add(waiting);
      const unwatch = this.#aborts.on(signal, giveUp);
    });
    this.#lookAgain(turn.nextLook(now), now);
    announce(call, turn, now);
    return verdict;
  }

  /** Lets everybody start whose turn has come, in order, and refuses those who have waited too long. */
  #advance(): void {
    this.#disarm();
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting) {
      const { turn } = waiting;
      const missed = turn.isOpen(now) ? undefined : turn.missed(now);
      if (missed !== undefined) waiting.refuse(missed);
      else if (turn.isOpen(now)) waiting.start(now);
      else next = Math.min(next, turn.nextLook(now));
    }
    if (this.#waiting.size > 0) this.#lookAgain(next, now);
  }

  #pause(model: ChatModel, now: number, retryAfterMs: number | undefined): void {
    const ms = retryAfterMs !== undefined && retryAfterMs >= 0 ? retryAfterMs : DEFAULT_PAUSE_MS;
    this.#pauses.set(model, Math.max(this.#pauses.get(model) ?? 0, now + ms));
  }

  #lookAgain(at: number, now: number): void {
    if (at >= this.#timerAt) return;
    this.#disarm();
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#advance(), Math.min(Math.ceil(at - now), LONGEST_MS));
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }
}

function refusal(limit: RateLimit): Reject {
  return reject(new RateLimitTimeoutError(limit, limit.waitTimeoutMs));
}

function announce({ run, taskId, agentRole }: LlmCall, turn: Turn, now: number): void {
  const { limit, waitMs } = turn.obstacle(now);
  emitEvent(run, { type: "rate_limited", taskId, agentRole, waitMs, requests: limit.requests, periodMs: limit.periodMs });
}
