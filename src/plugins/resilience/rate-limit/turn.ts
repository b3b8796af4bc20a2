import type { RateLimit } from "../../../contracts/rate-limit.js";
import type {
  RateRequest,
  RateTurn,
  RateWait,
  RateWindow,
} from "../../../contracts/rate-window.js";
import { isLater } from "../../../util/awaitable.js";
import { storeAnswer } from "../shared/store-answer.js";

/**
 * The delay in milliseconds before a call that depends on calls in flight asks again. The calls in
 * flight may belong to another process.
 */
const RECHECK_MS = 250;

/** The times at which a limit allows the call to start. */
export interface Opening {
  readonly limit: RateLimit;
  readonly openAt: number;
  /** The earliest possible time. */
  readonly earliest: number;
}

/** The turn of one model call in the windows of all its limits. */
export class Turn {
  #place: RateTurn | undefined;
  #openings: readonly Opening[] = [];
  #begun = false;
  #counted = false;
  #left = false;

  constructor(
    readonly window: RateWindow,
    readonly request: RateRequest,
    readonly arrivedAt: number,
    /** The time until which the vendor accepts no call of this model. */
    readonly pausedUntil: () => number,
  ) {}

  /** Estimated input tokens, reserved while the call is in flight. */
  get tokens(): number {
    return this.request.tokens;
  }
  get begun(): boolean {
    return this.#begun;
  }
  /** Whether the turn has come. */
  get taken(): boolean {
    return this.#place !== undefined;
  }
  /** Whether the call left before its turn. */
  get left(): boolean {
    return this.#left;
  }

  /**
   * Requests the turn. Returns a promise only if the window does.
   * @throws LimitStoreError if the window fails or is late.
   */
  look(now: number): Promise<void> | undefined {
    const pausedUntil = this.pausedUntil();
    if (pausedUntil > now) {
      const { limits } = this.request;
      this.#openings = limits.map(({ limit }) => ({ limit, openAt: 0, earliest: 0 }));
      return undefined;
    }
    const { window, request } = this;
    const answer = storeAnswer(() => window.take(request), {
      what: "The rate window",
      timeoutMs: window.timeoutMs,
      signal: request.signal,
      undo: (late) => void ("waits" in late || late.end(0)),
    });
    if (isLater(answer)) return Promise.resolve(answer).then((later) => this.#keep(later));
    this.#keep(answer);
    return undefined;
  }

  /** Whether one of its limits delays an earlier call. If so, the call does not request a turn. */
  isBehind(closed: ReadonlyMap<object, Opening>): boolean {
    const { limits } = this.request;
    if (!limits.some(({ owner }) => closed.has(owner))) return false;
    this.#openings = limits.map(
      ({ owner, limit }) => closed.get(owner) ?? { limit, openAt: 0, earliest: 0 },
    );
    return true;
  }

  /** Adds the limits that delay the call. */
  addClosed(closed: Map<object, Opening>, now: number): void {
    this.request.limits.forEach(({ owner }, index) => {
      const opening = this.#openings[index];
      if (opening !== undefined && opening.openAt > now) closed.set(owner, opening);
    });
  }

  /** Called when the call no longer waits. A place that it gets later is returned. */
  leave(): void {
    this.#left = true;
  }

  /** Called before the call of the model. */
  begin(): void {
    this.#begun = true;
  }

  /** Called after the call of the model. The period counts from this time. */
  count(): void {
    if (this.#counted) return;
    this.#counted = true;
    this.#place?.begin();
  }

  /** Called when the call has ended with this usage, or did not begin. */
  end(used: number): void {
    if (this.#begun) this.count();
    this.#counted = true;
    this.#place?.end(used);
  }

  /** Returns the limit that delays the call longest, and the minimum delay. */
  obstacle(now: number): { readonly limit: RateLimit; readonly waitMs: number } {
    const waits = this.#openings.map((opening) => ({
      limit: opening.limit,
      waitMs: Math.ceil(this.#earliest(opening) - now),
    }));
    return waits.reduce((longest, wait) => (wait.waitMs > longest.waitMs ? wait : longest));
  }

  /** Returns the limit whose maximum wait the call has exceeded or will certainly exceed. */
  missed(now: number): RateLimit | undefined {
    return this.#openings.find((opening) => {
      const deadline = this.#deadline(opening);
      return this.#earliest(opening) > deadline || (now >= deadline && opening.openAt > now);
    })?.limit;
  }

  /**
   * Returns the time of the next check: when the limit may be open, or when the maximum wait ends.
   */
  nextLook(now: number): number {
    const openAt = this.#openings.reduce(
      (latest, opening) => Math.max(latest, opening.openAt),
      this.pausedUntil(),
    );
    const deadlines = this.#openings
      .map((opening) => this.#deadline(opening))
      .filter((deadline) => deadline > now);
    return Math.min(openAt === Number.POSITIVE_INFINITY ? now + RECHECK_MS : openAt, ...deadlines);
  }

  #keep(answer: RateTurn | RateWait): void {
    if (!("waits" in answer)) {
      if (this.#left) answer.end(0);
      else this.#place = answer;
      return;
    }
    const now = performance.now();
    this.#openings = this.request.limits.map(({ limit }, index) => {
      const { openMs = 0, atLeastMs = 0 } = answer.waits[index] ?? {};
      return { limit, openAt: now + openMs, earliest: now + atLeastMs };
    });
  }

  #earliest({ earliest }: Opening): number {
    return Math.max(earliest, this.pausedUntil());
  }

  #deadline({ limit }: Opening): number {
    return this.arrivedAt + limit.waitTimeoutMs;
  }
}
