import type { ChatModel, ChatResponse } from "../../../contracts/chat-model.js";
import type { After, OwnedRateLimit, LlmCall, Reject } from "../../../contracts/hooks.js";
import type { RateLimit } from "../../../contracts/rate-limit.js";
import { ModelCallError } from "../../../contracts/errors.js";
import { AbortWatch } from "../../../util/abort/abort-watch.js";
import { LimitWindow } from "./limit-window.js";
import { withInnerLimits } from "./rate-limited.js";
import { estimateInput, usedTokens } from "./token-estimate.js";
import { Turn } from "./turn.js";
import { WaitList } from "./wait-list.js";
import { WaitingCall, waitRejection } from "./waiting-call.js";

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
 * for one limit does not hold up calls that need only others. Windows belong to whoever bears the limit, so all runs of a kernel share them. One timer serves all that wait, and there is none when
 * nobody does.
 */
export class RateLimiter {
  readonly #windows = new WeakMap<object, LimitWindow>();
  readonly #pauses = new WeakMap<ChatModel, number>();
  /** By the list of limits that the kernel makes for each attempt. */
  readonly #admitted = new WeakMap<readonly OwnedRateLimit[], Admitted>();
  readonly #waiting = new WaitList();
  readonly #aborts = new AbortWatch();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  /** Before a call: at once where nothing limits it, else when its turn has come or its patience ends. @throws the signal's reason when that ends the wait. */
  admit(call: LlmCall): undefined | Reject | Promise<Reject | undefined> {
    if (call.rateLimits.length === 0) return undefined;
    call.signal.throwIfAborted();
    const turn = this.#turnOf(call);
    if (this.#waiting.size > 0 && turn.isOpen(turn.arrivedAt)) this.#advance(); // those who wait come first, should the timer be late
    if (turn.isOpen(turn.arrivedAt)) return void this.#admit(call, turn);
    const missed = turn.missed(turn.arrivedAt);
    return missed === undefined ? this.#wait(call, turn) : waitRejection(missed);
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

  #turnOf({ rateLimits, model, request }: LlmCall): Turn {
    const owned = withInnerLimits(rateLimits);
    const windows = owned.map(({ owner, limit }) => this.#windowOf(owner, limit));
    const tokens = owned.some(({ limit }) => limit.tokens !== undefined)
      ? estimateInput(request)
      : 0;
    return new Turn(
      windows,
      tokens,
      performance.now(),
      () => this.#pauses.get(model.wraps ?? model) ?? 0,
    );
  }

  #windowOf(owner: object, limit: RateLimit): LimitWindow {
    const window = this.#windows.get(owner) ?? new LimitWindow(limit);
    window.limit = limit;
    this.#windows.set(owner, window);
    return window;
  }

  #admit(call: LlmCall, turn: Turn): void {
    turn.take();
    // A tap that hangs would keep the place for ever; a call that has begun ends by itself.
    const unwatch = this.#aborts.on(call.signal, () => {
      if (!turn.begun) this.#end(call, performance.now(), undefined);
    });
    this.#admitted.set(call.rateLimits, { turn, unwatch });
  }

  #count(turn: Turn): void {
    const now = performance.now();
    turn.count(now);
    if (this.#waiting.size > 0) this.#lookAgain(now, now); // only now it is known when the place will be free again
  }

  /** `used`: the tokens it used, as far as they are known. */
  #end({ rateLimits }: Pick<LlmCall, "rateLimits">, now: number, used: number | undefined): void {
    const admitted = this.#admitted.get(rateLimits);
    if (admitted === undefined) return; // it never had its turn, or has been let go
    this.#admitted.delete(rateLimits);
    const { turn, unwatch } = admitted;
    unwatch();
    turn.end(now, used ?? turn.tokens);
    const mayOpen = !turn.begun || turn.tokens > 0;
    if (mayOpen && this.#waiting.size > 0) this.#lookAgain(now, now);
  }

  #wait(call: LlmCall, turn: Turn): Promise<Reject | undefined> {
    const now = turn.arrivedAt;
    const waiting = new WaitingCall(call, turn);
    const unwatch = this.#aborts.on(call.signal, () => {
      this.#leave(waiting);
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

  /** Lets everybody start whose turn has come, in order, and refuses those who have waited too long. */
  #advance(): void {
    this.#disarm();
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting) {
      const { turn, call } = waiting;
      const isOpen = turn.isOpen(now);
      const missed = isOpen ? undefined : turn.missed(now);
      if (isOpen || missed !== undefined) this.#leave(waiting);
      if (missed !== undefined) waiting.refuse(missed);
      else if (isOpen) {
        this.#admit(call, turn);
        waiting.start();
      } else {
        waiting.announce(now);
        next = Math.min(next, turn.nextLook(now));
      }
    }
    if (this.#waiting.size > 0) this.#lookAgain(next, now);
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
