import type {
  StoredTurn,
  ThreadSummary,
  WindowInput,
  WindowOutput,
  WindowPolicy,
} from "../../../contracts/conversation.js";
import type { ModelRef } from "../../../contracts/chat-model.js";
import { checkModel } from "../../../contracts/agent.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, requireInteger } from "../../../contracts/validation.js";
import { messageOf } from "../../../util/errors.js";

/** Number of turns in one read. */
const PAGE = 32;

/** Options of `WindowPolicy.lastTurns`. */
export interface LastTurnsOptions {
  /**
   * Number of turns that leave the window together. The beginning of the window then stays the same
   * for the prompt cache of a vendor. Default 1.
   */
  readonly step?: number | undefined;
}

/**
 * Options of `WindowPolicy.summary`: the threshold and the model. At least one of `tokens` and
 * `turns` is required.
 */
export interface SummaryWindowOptions {
  /** Limit of the tokens of the turns that are not summarized. */
  readonly tokens?: number | undefined;
  /** Limit of the number of turns that are not summarized. */
  readonly turns?: number | undefined;
  /**
   * Number of turns that are kept when the others are summarized. Default: half of `turns`, or 6
   * without `turns`.
   */
  readonly keepTurns?: number | undefined;
  /** The model that summarizes. Default: the model of the turn. */
  readonly model?: ModelRef | undefined;
  /** Limit of words of the summary. Default 200. */
  readonly maxWords?: number | undefined;
}

/** Selects the last `n` turns. With a step, selects up to `n + step - 1` turns. */
export function lastTurns(n: number, o: LastTurnsOptions = {}): WindowPolicy {
  requireInteger("WindowPolicy.lastTurns n", n ?? Number.NaN, 1);
  checkOptions("WindowPolicy.lastTurns", o, ["step"]);
  requireInteger("WindowPolicy.lastTurns step", o.step, 1);
  const { step = 1 } = o;
  return {
    name: `lastTurns(${n})`,
    async select({ head, read }) {
      const surplus = Math.max(0, head.turns - n);
      const limit = head.turns - Math.floor(surplus / step) * step;
      return { turns: limit === 0 ? [] : await read({ limit }) };
    },
  };
}

/** Selects all turns. */
export function allTurns(): WindowPolicy {
  return {
    name: "all",
    select: async ({ head, read }) => ({
      turns: head.turns === 0 ? [] : await read({ limit: head.turns }),
    }),
  };
}

/** Selects the last turns that fit into `max` tokens, at least one. */
export function tokenBudget(max: number): WindowPolicy {
  requireInteger("WindowPolicy.tokens max", max ?? Number.NaN, 1);
  return {
    name: `tokens(${max})`,
    select: async (input) => ({ turns: await turnsWithin(input, { tokens: max, first: 0 }) }),
  };
}

/** Summarizes the turns outside the window, with a model call of the purpose `summary`. */
export function summarized(o: SummaryWindowOptions): WindowPolicy {
  const what = "WindowPolicy.summary";
  checkOptions(what, o, ["tokens", "turns", "keepTurns", "model", "maxWords"]);
  for (const name of ["tokens", "turns", "keepTurns", "maxWords"] as const)
    requireInteger(`${what} ${name}`, o[name], 1);
  checkModel(`${what} model`, o.model);
  if (o.tokens === undefined && o.turns === undefined)
    throw new ValidationError(`${what} needs tokens or turns: the size from which it summarizes`);
  const { keepTurns = o.turns === undefined ? 6 : Math.ceil(o.turns / 2) } = o;
  if (o.turns !== undefined && keepTurns > o.turns)
    throw new ValidationError(
      `${what} keepTurns must be at most turns (${o.turns}), got: ${keepTurns}`,
    );
  return { name: "summary", select: (input) => selectSummarized(input, { ...o, keepTurns }) };
}

interface Within {
  readonly tokens: number | undefined;
  readonly first: number;
  readonly turns?: number | undefined;
}

/** Reads the last turns from number `first` on, within the limits. Returns at least one turn. */
async function turnsWithin(
  { head, read, countTokens }: WindowInput,
  { tokens = Infinity, first, turns = Infinity }: Within,
): Promise<readonly StoredTurn[]> {
  const found: StoredTurn[] = [];
  let left = tokens;
  for (let before = head.turns; before > first;) {
    const page = await read({ limit: Math.min(PAGE, before - first), before });
    for (const turn of [...page].reverse()) {
      left -= await countTokens(turn.messages);
      if (found.length > 0 && (left < 0 || found.length >= turns)) return found.reverse();
      found.push(turn);
    }
    if (page.length === 0) break;
    before -= page.length;
  }
  return found.reverse();
}

/**
 * Selects the summary and the turns after it. When these turns exceed the limit, all but the last
 * `keepTurns` become part of the summary. The existing summary is extended.
 */
async function selectSummarized(
  input: WindowInput,
  o: SummaryWindowOptions & { readonly keepTurns: number },
): Promise<WindowOutput> {
  const { head, signal } = input;
  const { summary } = head;
  const first = summary === undefined ? 0 : summary.upTo + 1;
  const fitting = await turnsWithin(input, { tokens: o.tokens, turns: o.turns, first });
  const count = head.turns - first;
  if (fitting.length === count) return { turns: fitting, summary };
  const kept = fitting.slice(-o.keepTurns);
  try {
    const next = await extended(input, head.turns - kept.length - 1, o);
    return { turns: kept, summary: next };
  } catch (error) {
    if (signal.aborted) throw error;
    input.warn(
      `The thread could not be summarized, so the model receives less of it: ${messageOf(error)}`,
    );
    return { turns: kept, summary };
  }
}

/** Extends the summary by the turns up to `upTo`, page by page. */
async function extended(
  { head, read, summarize }: WindowInput,
  upTo: number,
  { model, maxWords }: SummaryWindowOptions,
): Promise<ThreadSummary | undefined> {
  let { summary } = head;
  for (let n = (summary?.upTo ?? -1) + 1; n <= upTo;) {
    const before = Math.min(n + PAGE, upTo + 1);
    const turns = await read({ limit: before - n, before });
    const last = turns.at(-1);
    if (last === undefined) break;
    const text = await summarize({ turns, previous: summary?.text, model, maxWords });
    summary = { upTo: last.n, text, at: last.at };
    n = before;
  }
  return summary;
}
