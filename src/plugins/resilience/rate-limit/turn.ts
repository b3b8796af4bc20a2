import type { RateLimit } from "../../../contracts/rate-limit.js";
import type {
  RateRequest,
  RateTurn,
  RateWait,
  RateWindow,
} from "../../../contracts/rate-window.js";
import { isLater } from "../../../util/awaitable.js";
import { storeAnswer } from "../shared/store-answer.js";

/** How soon a call asks again whose turn depends on calls in flight: they may be those of another process. */
const RECHECK_MS = 250;

/** From when on a limit lets the call start. */
export interface Opening {
  readonly limit: RateLimit;
  readonly openAt: number;
  /** At the best. */
  readonly earliest: number;
}

/** One model call on its way through the windows of all its limits. */
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
    /** Until when the vendor wants no further call of this model. */
    readonly pausedUntil: () => number,
  ) {}

  /** Estimated input; reserved while the call is in flight. */
  get tokens(): number {
    return this.request.tokens;
  }
  get begun(): boolean {
    return this.#begun;
  }
  /** Whether its turn has come. */
  get taken(): boolean {
    return this.#place !== undefined;
  }
  /** Whether it was given up before its turn came. */
  get left(): boolean {
    return this.#left;
  }

  /** Asks for its turn. A promise only where the window answers later. @throws LimitStoreError if the window fails or is late. */
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

  /** Whether one of its limits is among those that hold up a call before it; then it needs not ask. */
  isBehind(closed: ReadonlyMap<object, Opening>): boolean {
    const { limits } = this.request;
    if (!limits.some(({ owner }) => closed.has(owner))) return false;
    this.#openings = limits.map(
      ({ owner, limit }) => closed.get(owner) ?? { limit, openAt: 0, earliest: 0 },
    );
    return true;
  }

  /** Adds the limits that hold it up. */
  addClosed(closed: Map<object, Opening>, now: number): void {
    this.request.limits.forEach(({ owner }, index) => {
      const opening = this.#openings[index];
      if (opening !== undefined && opening.openAt > now) closed.set(owner, opening);
    });
  }

  /** Nobody waits for it any more: a place that comes now is given back. */
  leave(): void {
    this.#left = true;
  }

  /** The model is about to be called. */
  begin(): void {
    this.#begun = true;
  }

  /** The model has been called: the period counts from here. */
  count(): void {
    if (this.#counted) return;
    this.#counted = true;
    this.#place?.begin();
  }

  /** It is over: the call has used so many tokens, or has never begun. */
  end(used: number): void {
    if (this.#begun) this.count();
    this.#counted = true;
    this.#place?.end(used);
  }

  /** The limit that holds it up longest, and how long it does at least. */
  obstacle(now: number): { readonly limit: RateLimit; readonly waitMs: number } {
    const waits = this.#openings.map((opening) => ({
      limit: opening.limit,
      waitMs: Math.ceil(this.#earliest(opening) - now),
    }));
    return waits.reduce((longest, wait) => (wait.waitMs > longest.waitMs ? wait : longest));
  }

  /** The limit for which it has waited too long, or certainly will. */
  missed(now: number): RateLimit | undefined {
    return this.#openings.find((opening) => {
      const deadline = this.#deadline(opening);
      return this.#earliest(opening) > deadline || (now >= deadline && opening.openAt > now);
    })?.limit;
  }

  /** When to look at it again: when it may be open, or when its patience ends. */
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
