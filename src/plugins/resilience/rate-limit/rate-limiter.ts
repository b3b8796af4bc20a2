import type { ChatModel, ChatResponse } from "../../../contracts/chat-model.js";
import type { After, OwnedRateLimit, LlmCall, Reject } from "../../../contracts/hooks.js";
import { ModelCallError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { AbortWatch } from "../../../util/abort/abort-watch.js";
import { withInnerLimits } from "../../shared/rate-limits/rate-limited.js";
import { estimateInput, usedTokens } from "../../shared/rate-limits/token-estimate.js";
import { type Opening, Turn } from "./turn.js";
import { WaitList } from "./wait-list.js";
import { WaitingCall, waitRejection } from "./waiting-call.js";
import { windowKey } from "./window-key.js";

/** Pause of the calls of a model in milliseconds, after a 429 without `Retry-After`. */
const DEFAULT_PAUSE_MS = 1_000;
/** The maximum delay of a timer, in milliseconds. */
const LONGEST_MS = 2_147_483_647;

/** A call whose turn has come. */
interface AdmittedCall {
  readonly turn: Turn;
  readonly unwatch: () => void;
}

/**
 * Starts model calls when all their rate limits allow it, by priority, then in the order of their
 * arrival. A call that waits for one limit does not delay calls with other limits.
 * `Tokens.RateWindow` counts. One timer serves all waiting calls. Without waiting calls there is no
 * timer.
 */
export class RateLimiter {
  readonly #pauses = new WeakMap<ChatModel, number>();
  /** Calls whose turn has come, by the list of limits that the kernel creates for each attempt. */
  readonly #admitted = new WeakMap<readonly OwnedRateLimit[], AdmittedCall>();
  readonly #waiting = new WaitList();
  readonly #aborts = new AbortWatch();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** The limits that calls waited for at the last check. */
  #closed = new Map<object, Opening>();
  /** A check of the waiting calls that waits for a window. */
  #pass: Promise<void> | undefined;
  /** The time of the check that follows it. */
  #missedLook = Number.POSITIVE_INFINITY;

  /**
   * Called before a call. Returns `undefined` for a call without limits. Otherwise resolves when
   * its turn has come or its time limit has passed.
   * @throws the reason of the signal if it ends the wait; LimitStoreError if the window fails or is
   * late.
   */
  admit(call: LlmCall): undefined | Reject | Promise<Reject | undefined> {
    if (call.rateLimits.length === 0) return undefined;
    call.signal.throwIfAborted();
    const turn = this.#turnOf(call);
    // if the timer is late, waiting calls precede this call
    const ahead = this.#waiting.size > 0 ? this.#advance() : undefined;
    const looked = ahead === undefined ? this.#ask(turn) : ahead.then(() => this.#ask(turn));
    return looked === undefined ? this.#decide(call, turn) : this.#decideLater(call, turn, looked);
  }

  /**
   * Called directly before the model. Later taps may take time, or may answer instead of the model.
   */
  begin(call: LlmCall): void {
    if (call.rateLimits.length === 0) return;
    const turn = this.#admitted.get(call.rateLimits)?.turn;
    if (turn === undefined) return;
    turn.begin();
    // By then the model has been called. With an earlier start time, a busy process could start the
    // next call too early.
    setImmediate(() => this.#count(turn));
  }

  /** Called after a call with any outcome. */
  settle(call: After<LlmCall, "response", ChatResponse>): void {
    const { rateLimits, model, error, response } = call;
    if (rateLimits.length === 0) return;
    const now = performance.now();
    const turn = this.#admitted.get(rateLimits)?.turn;
    this.#end(
      call,
      now,
      response === undefined || turn === undefined ? undefined : usedTokens(response, turn.tokens),
    );
    if (ModelCallError.isInstance(error) && error.code === "AE_MODEL_RATE_LIMITED")
      this.#pause(model, now, error.retryAfterMs);
  }

  #turnOf(call: LlmCall): Turn {
    const { rateLimits, model, request, run, signal } = call;
    const limits = withInnerLimits(rateLimits).map(({ owner, limit }) => ({
      key: windowKey(call, owner, limit),
      owner,
      limit,
    }));
    const tokens = limits.some(({ limit }) => limit.tokens !== undefined)
      ? estimateInput(request)
      : 0;
    return new Turn(
      run.get(Tokens.RateWindow),
      { limits, tokens, signal },
      performance.now(),
      () => this.#pauses.get(model.wraps ?? model) ?? 0,
    );
  }

  /** Requests a turn, unless an earlier call waits for one of the same limits. */
  #ask(turn: Turn): Promise<void> | undefined {
    if (this.#waiting.size > 0 && turn.isBehind(this.#closed)) return undefined;
    return turn.look(performance.now());
  }

  /** Decides about a call after a request for a turn. */
  #decide(call: LlmCall, turn: Turn): undefined | Reject | Promise<Reject | undefined> {
    if (turn.taken) return void this.#admit(call, turn);
    const now = performance.now();
    const missed = turn.missed(now);
    return missed === undefined ? this.#wait(call, turn, now) : waitRejection(missed);
  }

  async #decideLater(
    call: LlmCall,
    turn: Turn,
    looked: Promise<void>,
  ): Promise<Reject | undefined> {
    let unwatch: () => void = () => undefined;
    const aborted = new Promise<never>((_, fail) => {
      unwatch = this.#aborts.on(call.signal, () => {
        turn.leave();
        fail(call.signal.reason);
      });
    });
    try {
      await Promise.race([looked, aborted]);
    } finally {
      unwatch();
    }
    return this.#decide(call, turn);
  }

  #admit(call: LlmCall, turn: Turn): void {
    // A tap that never returns would keep the place forever. A call that has begun ends by itself.
    const unwatch = this.#aborts.on(call.signal, () => {
      if (!turn.begun) this.#end(call, performance.now(), undefined);
    });
    this.#admitted.set(call.rateLimits, { turn, unwatch });
  }

  #count(turn: Turn): void {
    turn.count();
    const now = performance.now();
    // the time at which the place becomes free is known only now
    if (this.#waiting.size > 0) this.#lookAgain(now, now);
  }

  /** `used`: the tokens of the call, if they are known. */
  #end({ rateLimits }: Pick<LlmCall, "rateLimits">, now: number, used: number | undefined): void {
    const admitted = this.#admitted.get(rateLimits);
    if (admitted === undefined) return; // it had no turn, or was released
    this.#admitted.delete(rateLimits);
    const { turn, unwatch } = admitted;
    unwatch();
    turn.end(used ?? turn.tokens);
    const mayOpen = !turn.begun || turn.tokens > 0;
    if (mayOpen && this.#waiting.size > 0) this.#lookAgain(now, now);
  }

  #wait(call: LlmCall, turn: Turn, now: number): Promise<Reject | undefined> {
    const waiting = new WaitingCall(call, turn);
    const unwatch = this.#aborts.on(call.signal, () => {
      this.#leave(waiting);
      turn.leave();
      if (this.#waiting.size === 0) this.#disarm();
      waiting.giveUp();
    });
    this.#waiting.add(waiting, unwatch);
    // A result that depends on calls whose turn has just come is known shortly afterwards.
    const known = turn.obstacle(now).waitMs > 0;
    this.#lookAgain(known ? turn.nextLook(now) : now, now);
    if (known) waiting.announce(now);
    return waiting.verdict;
  }

  /**
   * Starts the calls whose turn has come, in order. Refuses calls that have waited too long.
   * Returns a promise only if a window does.
   */
  #advance(): Promise<void> | undefined {
    if (this.#pass !== undefined) return this.#pass;
    this.#disarm();
    this.#closed = new Map();
    const pass = this.#lookAt(this.#waiting[Symbol.iterator]());
    this.#pass = pass?.finally(() => {
      this.#pass = undefined;
      const at = this.#missedLook;
      this.#missedLook = Number.POSITIVE_INFINITY;
      if (this.#waiting.size > 0) this.#lookAgain(at, performance.now());
    });
    return this.#pass;
  }

  /** Checks the waiting calls in sequence. */
  #lookAt(queue: Iterator<WaitingCall>): Promise<void> | undefined {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      const { value: waiting } = next;
      let looked: Promise<void> | undefined;
      try {
        looked = this.#ask(waiting.turn);
      } catch (error) {
        this.#fail(waiting, error);
        continue;
      }
      if (looked !== undefined)
        return looked
          .then(
            () => this.#judge(waiting),
            (error: unknown) => this.#fail(waiting, error),
          )
          .then(() => this.#lookAt(queue));
      this.#judge(waiting);
    }
    return undefined;
  }

  #judge(waiting: WaitingCall): void {
    const { turn, call } = waiting;
    if (turn.left) return;
    const now = performance.now();
    const missed = turn.taken ? undefined : turn.missed(now);
    if (turn.taken || missed !== undefined) this.#leave(waiting);
    if (missed !== undefined) waiting.refuse(missed);
    else if (turn.taken) {
      this.#admit(call, turn);
      waiting.start();
    } else {
      turn.addClosed(this.#closed, now);
      waiting.announce(now);
      this.#lookAgain(turn.nextLook(now), now);
    }
  }

  #fail(waiting: WaitingCall, error: unknown): void {
    this.#leave(waiting);
    waiting.fail(error);
  }

  #leave(waiting: WaitingCall): void {
    this.#waiting.delete(waiting)?.();
  }

  #pause(called: ChatModel, now: number, retryAfterMs: number | undefined): void {
    const model = called.wraps ?? called;
    const ms = retryAfterMs !== undefined && retryAfterMs >= 0 ? retryAfterMs : DEFAULT_PAUSE_MS;
    this.#pauses.set(model, Math.max(this.#pauses.get(model) ?? 0, now + ms));
  }

  #lookAgain(at: number, now: number): void {
    if (this.#pass !== undefined) {
      this.#missedLook = Math.min(this.#missedLook, at); // the waiting calls are being checked now
      return;
    }
    if (at >= this.#timerAt) return;
    this.#disarm();
    this.#timerAt = at;
    this.#timer = setTimeout(() => void this.#advance(), Math.min(Math.ceil(at - now), LONGEST_MS));
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }
}
