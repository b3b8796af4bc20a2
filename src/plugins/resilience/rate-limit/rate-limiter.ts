import type { ChatModel, ChatResponse } from "../../../contracts/chat-model.js";
import type { After, OwnedRateLimit, LlmCall, Reject } from "../../../contracts/hooks.js";
import { ModelCallError } from "../../../contracts/errors.js";
import { Tokens } from "../../../contracts/tokens.js";
import { AbortWatch } from "../../../util/abort/abort-watch.js";
import { withInnerLimits } from "./rate-limited.js";
import { estimateInput, usedTokens } from "./token-estimate.js";
import { type Opening, Turn } from "./turn.js";
import { WaitList } from "./wait-list.js";
import { WaitingCall, waitRejection } from "./waiting-call.js";
import { windowKey } from "./window-key.js";

/** How long a model rests after a 429 that does not say how long. */
const DEFAULT_PAUSE_MS = 1_000;
/** The longest that a timer can wait. */
const LONGEST_MS = 2_147_483_647;

/** A call that has had its turn. */
interface Admitted {
  readonly turn: Turn;
  readonly unwatch: () => void;
}

/**
 * Lets model calls start when all their rate limits allow it, those of higher priority first, else in the order of their arrival; a call that waits
 * for one limit does not hold up calls that need only others. `Tokens.RateWindow` counts. One timer serves all that wait, and there is none when nobody
 * does.
 */
export class RateLimiter {
  readonly #pauses = new WeakMap<ChatModel, number>();
  /** By the list of limits that the kernel makes for each attempt. */
  readonly #admitted = new WeakMap<readonly OwnedRateLimit[], Admitted>();
  readonly #waiting = new WaitList();
  readonly #aborts = new AbortWatch();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** The limits for which calls waited when they were last asked. */
  #closed = new Map<object, Opening>();
  /** While those who wait are asked, and a window answers later. */
  #pass: Promise<void> | undefined;
  /** When to look again after that. */
  #missedLook = Number.POSITIVE_INFINITY;

  /** Before a call: at once where nothing limits it, else when its turn has come or its patience ends. @throws the signal's reason when that ends the wait; LimitStoreError if the window fails or is late. */
  admit(call: LlmCall): undefined | Reject | Promise<Reject | undefined> {
    if (call.rateLimits.length === 0) return undefined;
    call.signal.throwIfAborted();
    const turn = this.#turnOf(call);
    const ahead = this.#waiting.size > 0 ? this.#advance() : undefined; // those who wait come first, should the timer be late
    const looked = ahead === undefined ? this.#ask(turn) : ahead.then(() => this.#ask(turn));
    return looked === undefined ? this.#decide(call, turn) : this.#decideLater(call, turn, looked);
  }

  /** Right before the model is called: what comes after `admit` may take its time, or answer in the model's place. */
  begin(call: LlmCall): void {
    if (call.rateLimits.length === 0) return;
    const turn = this.#admitted.get(call.rateLimits)?.turn;
    if (turn === undefined) return;
    turn.begin();
    // By then the model has been called. Counted from any moment before that, a busy process could let the next call come too early.
    setImmediate(() => this.#count(turn));
  }

  /** After a call, whatever its outcome. */
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

  /** Asks for a turn, unless a call that came before waits for one of the same limits. */
  #ask(turn: Turn): Promise<void> | undefined {
    if (this.#waiting.size > 0 && turn.isBehind(this.#closed)) return undefined;
    return turn.look(performance.now());
  }

  /** What becomes of a call that has asked for its turn. */
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
    // A tap that hangs would keep the place for ever; a call that has begun ends by itself.
    const unwatch = this.#aborts.on(call.signal, () => {
      if (!turn.begun) this.#end(call, performance.now(), undefined);
    });
    this.#admitted.set(call.rateLimits, { turn, unwatch });
  }

  #count(turn: Turn): void {
    turn.count();
    const now = performance.now();
    if (this.#waiting.size > 0) this.#lookAgain(now, now); // only now it is known when the place will be free again
  }

  /** `used`: the tokens it used, as far as they are known. */
  #end({ rateLimits }: Pick<LlmCall, "rateLimits">, now: number, used: number | undefined): void {
    const admitted = this.#admitted.get(rateLimits);
    if (admitted === undefined) return; // it never had its turn, or has been let go
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
    // Where it depends on calls that have had their turn just now, more is known in a moment.
    const known = turn.obstacle(now).waitMs > 0;
    this.#lookAgain(known ? turn.nextLook(now) : now, now);
    if (known) waiting.announce(now);
    return waiting.verdict;
  }

  /** Lets everybody start whose turn has come, in order, and refuses those who have waited too long. A promise only where a window answers later. */
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

  /** Takes those who wait one after the other. */
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
      this.#missedLook = Math.min(this.#missedLook, at); // those who wait are being asked now
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
