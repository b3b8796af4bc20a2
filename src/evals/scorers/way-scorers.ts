import type { Sample, Score, Scorer, ScorerOptions } from "../scorer.js";
import { ValidationError } from "../../contracts/errors.js";
import { preview } from "../../contracts/validation.js";
import { differencesOf } from "./json-differences.js";
import { builtInScorer } from "./named-scorer.js";

type WayScorer = Scorer<unknown, unknown>;

function requireNameList(what: string, names: unknown): void {
  if (Array.isArray(names) && names.length > 0 && names.every((one) => typeof one === "string"))
    return;
  throw new ValidationError(`${what} needs a list of names, got: ${preview(names)}`);
}

/** Returns the length of the longest part of `wanted` that occurs in `found` in the same order. */
function longestInOrder(wanted: readonly string[], found: readonly string[]): number {
  let row = new Array<number>(found.length + 1).fill(0);
  for (const name of wanted) {
    const next = [0];
    found.forEach((other, i) =>
      next.push(name === other ? (row[i] ?? 0) + 1 : Math.max(row[i + 1] ?? 0, next[i] ?? 0)),
    );
    row = next;
  }
  return row.at(-1) ?? 0;
}

function orderScore(wanted: readonly string[], found: readonly string[]): Score {
  const value = longestInOrder(wanted, found) / wanted.length;
  return {
    value,
    ...(value < 1 && {
      reason: `Expected ${wanted.join(", ")}; there were ${found.join(", ") || "none"}`,
      evidence: { wanted, found },
    }),
  };
}

/**
 * Scores the fraction of the tools that were called in this order. Other calls may occur between
 * them.
 */
export function toolsInOrder(names: readonly string[], options: ScorerOptions = {}): WayScorer {
  requireNameList("toolsInOrder()", names);
  return builtInScorer("toolsInOrder", options, [], ({ way }) =>
    orderScore(
      names,
      way.toolCalls.map(({ name }) => name),
    ),
  );
}

/**
 * Scores the fraction of expected arguments with equal values, in the best matching call of the
 * tool. Scores 0 without a call. Additional arguments are ignored.
 */
export function toolCalledWith(
  name: string,
  wanted:
    Readonly<Record<string, unknown>> | ((sample: Sample) => Readonly<Record<string, unknown>>),
  options: ScorerOptions = {},
): WayScorer {
  requireNameList("toolCalledWith()", [name]);
  return builtInScorer("toolCalledWith", options, [], (sample) => {
    const values = typeof wanted === "function" ? wanted(sample) : wanted;
    const calls = sample.way.toolCalls.filter((call) => call.name === name);
    if (calls.length === 0) return { value: 0, reason: `The tool '${name}' was not called` };
    const matches = calls.map((call) => {
      const given = Object.entries(call.arguments ?? {});
      const known = Object.fromEntries(given.filter(([key]) => key in values));
      const { same, differences } = differencesOf(values, known);
      return { value: same / Math.max(1, same + differences.length), differences };
    });
    const best = matches.reduce((a, b) => (b.value > a.value ? b : a));
    return {
      value: best.value,
      ...(best.value < 1 && {
        reason: best.differences.map(({ path, problem }) => `${path}: ${problem}`).join("; "),
        evidence: { differences: best.differences },
      }),
    };
  });
}

/** Scores 1 if none of the tools was called, with or without success. */
export function forbidsTools(names: readonly string[], options: ScorerOptions = {}): WayScorer {
  requireNameList("forbidsTools()", names);
  const forbidden = new Set(names);
  return builtInScorer("forbidsTools", options, [], ({ way }) => {
    const called = way.toolCalls.filter(({ name }) => forbidden.has(name));
    if (called.length === 0) return 1;
    return {
      value: 0,
      reason: `Called: ${called.map(({ name }) => name).join(", ")}`,
      evidence: { called: called.map(({ name, arguments: given }) => ({ name, given })) },
    };
  });
}

/** Scores the fraction of the roles to which tasks were delegated in this order. */
export function delegatesTo(roles: readonly string[], options: ScorerOptions = {}): WayScorer {
  requireNameList("delegatesTo()", roles);
  return builtInScorer("delegatesTo", options, [], ({ way }) =>
    orderScore(
      roles,
      way.delegations.filter(({ succeeded }) => succeeded).map(({ to }) => to),
    ),
  );
}

/** Scores 1 if no delegation was refused by a constraint or a policy. */
export function constraintsMet(options: ScorerOptions = {}): WayScorer {
  return builtInScorer("constraintsMet", options, [], ({ way: { refusedDelegations } }) =>
    refusedDelegations === 0
      ? 1
      : { value: 0, reason: `${refusedDelegations} delegations were refused` },
  );
}

/** Scores 1 up to the limit, and `limit / amount` above it. */
function limitScorer(
  [kind, unit]: readonly [kind: string, unit: string],
  limit: number,
  options: ScorerOptions,
  amountOf: (sample: Sample) => number | undefined,
): WayScorer {
  if (typeof limit !== "number" || !(limit >= 0) || limit === Number.POSITIVE_INFINITY)
    throw new ValidationError(`${kind}() needs a number >= 0, got: ${preview(limit)}`);
  return builtInScorer(kind, options, [], (sample) => {
    const amount = amountOf(sample);
    if (amount === undefined) return undefined;
    return {
      value: amount <= limit ? 1 : limit / amount,
      reason: `${Math.round(amount * 1e6) / 1e6} ${unit}, at most ${limit}`,
      evidence: { amount },
    };
  });
}

/** Scores 1 up to this number of tool calls, and a lower score for a greater number. */
export function toolCallsAtMost(limit: number, options: ScorerOptions = {}): WayScorer {
  return limitScorer(
    ["toolCallsAtMost", "tool calls"],
    limit,
    options,
    ({ way }) => way.toolCalls.length,
  );
}

/** Scores 1 if at most this number of tokens was used, including tokens of recorded calls. */
export function tokensAtMost(limit: number, options: ScorerOptions = {}): WayScorer {
  return limitScorer(
    ["tokensAtMost", "tokens"],
    limit,
    options,
    ({ way: { spending } }) => spending.inputTokens + spending.outputTokens,
  );
}

/**
 * Scores 1 if the trial cost at most this amount, including recorded calls. Does not apply without
 * prices.
 */
export function costAtMost(limit: number, options: ScorerOptions = {}): WayScorer {
  return limitScorer(["costAtMost", "cost"], limit, options, ({ way: { spending } }) => {
    const { cost, recordedCost } = spending;
    return cost === undefined && recordedCost === undefined
      ? undefined
      : (cost ?? 0) + (recordedCost ?? 0);
  });
}

/**
 * Scores 1 if the trial took at most this time in milliseconds. Does not apply to trials with calls
 * that were answered by a recording or a cache.
 */
export function latencyAtMost(limitMs: number, options: ScorerOptions = {}): WayScorer {
  return limitScorer(["latencyAtMost", "ms"], limitMs, options, ({ way }) =>
    way.spending.answered > 0 ? undefined : way.durationMs,
  );
}
