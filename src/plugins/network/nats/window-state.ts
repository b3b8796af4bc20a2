import type { LimitWait } from "../../../contracts/rate-window.js";
import type { RateLimit } from "../../../contracts/rate-limit.js";

/** The calls of one rate limit. Instants are milliseconds by the clock of the server. */
export interface WindowState {
  /** Starts of calls, oldest first: instant and number. */
  readonly starts: readonly (readonly [at: number, calls: number])[];
  /** Tokens that ended calls used, oldest first. */
  readonly spent: readonly (readonly [at: number, tokens: number])[];
  /**
   * Calls that have not ended, by their turns. Each has its reserved tokens, the end of the
   * reservation, and whether the call has begun.
   */
  readonly turns: Readonly<
    Record<string, readonly [tokens: number, until: number, begun: boolean]>
  >;
}

/** A window without calls. */
export const NO_CALLS: WindowState = Object.freeze({ starts: [], spent: [], turns: {} });

/**
 * Time in ms for which a place that has not begun is held. Also the time for which the tokens of a
 * call in flight are reserved. After this time, the process is considered dead.
 */
const HELD_MS = 60_000;
export const IN_FLIGHT_MS = 15 * 60_000;
/**
 * Added to the ends of periods, because clients read the clock of the server at different moments.
 */
const MARGIN_MS = 2;
/**
 * Instants of one period are stored with this resolution, so that a record stays small for any
 * limit.
 */
const STEPS = 500;

/** Returns the waits of a call. Both are 0 if it may start. */
export function waitOfCall(
  { starts, spent, turns }: WindowState,
  { requests, tokens: most = Number.POSITIVE_INFINITY, periodMs }: RateLimit,
  now: number,
): LimitWait {
  const open = Object.values(turns).filter(([, until]) => until > now);
  const held = open.filter(([, , begun]) => !begun).length;
  const reserved = open.reduce((sum, [tokens]) => sum + tokens, 0);
  const used = spent.reduce((sum, [, tokens]) => sum + tokens, 0);
  const startsAt = (places: number): number => opensAt(starts, places, periodMs);
  const spentAt = (left: number): number =>
    left > used ? 0 : opensAt(spent, used - left, periodMs, "oldest");
  const openMs = Math.max(now, startsAt(requests - held), spentAt(most - reserved)) - now;
  const atLeastMs = Math.max(now, startsAt(requests), spentAt(most)) - now;
  return { openMs, atLeastMs };
}

/**
 * Returns the instant from which the newest entries are fewer than `amount`. For `oldest`, returns
 * the instant at which the oldest entries of more than `amount` have expired. 0 means now. Infinity
 * means after calls in progress have ended.
 */
function opensAt(
  entries: WindowState["starts"],
  amount: number,
  periodMs: number,
  from: "newest" | "oldest" = "newest",
): number {
  if (from === "newest" && amount <= 0) return Number.POSITIVE_INFINITY;
  let sum = 0;
  const ordered = from === "newest" ? [...entries].reverse() : entries;
  for (const [at, count] of ordered) {
    sum += count;
    if (from === "newest" ? sum >= amount : sum > amount) return at + periodMs + MARGIN_MS;
  }
  return from === "newest" ? 0 : Number.POSITIVE_INFINITY;
}

/** Removes expired entries. */
export function currentCalls(state: WindowState, periodMs: number, now: number): WindowState {
  const counts = ([at]: readonly [number, number]): boolean => at + periodMs + MARGIN_MS > now;
  return {
    starts: state.starts.filter(counts),
    spent: state.spent.filter(counts),
    turns: Object.fromEntries(Object.entries(state.turns).filter(([, [, until]]) => until > now)),
  };
}

/** Holds a place for a call that has not begun. */
export function heldPlace(
  state: WindowState,
  { turn, tokens, now }: { readonly turn: string; readonly tokens: number; readonly now: number },
): WindowState {
  return { ...state, turns: { ...state.turns, [turn]: [tokens, now + HELD_MS, false] } };
}

/** Counts the start of a call, once. */
export function begunCall(
  state: WindowState,
  turn: string,
  { periodMs, now }: { readonly periodMs: number; readonly now: number },
): WindowState {
  const [tokens = 0, , begun = false] = state.turns[turn] ?? [];
  if (begun) return state;
  return {
    ...state,
    starts: withEntry(state.starts, 1, periodMs, now),
    turns: { ...state.turns, [turn]: [tokens, now + IN_FLIGHT_MS, true] },
  };
}

/** Releases the reservation of a call, and counts its usage. */
export function endedCall(
  state: WindowState,
  turn: string,
  o: { readonly usedTokens: number; readonly periodMs: number; readonly now: number },
): WindowState {
  const { [turn]: ended, ...turns } = state.turns;
  const counts = ended !== undefined && o.usedTokens > 0;
  const { spent } = state;
  return {
    ...state,
    turns,
    spent: counts ? withEntry(spent, o.usedTokens, o.periodMs, o.now) : spent,
  };
}

function withEntry(
  entries: WindowState["starts"],
  amount: number,
  periodMs: number,
  now: number,
): WindowState["starts"] {
  const step = Math.max(1, periodMs / STEPS);
  const at = Math.ceil(now / step) * step;
  const last = entries.at(-1);
  // The clock of another client may be ahead. Entries stay in order.
  if (last !== undefined && last[0] >= at)
    return [...entries.slice(0, -1), [last[0], last[1] + amount]];
  return [...entries, [at, amount]];
}
