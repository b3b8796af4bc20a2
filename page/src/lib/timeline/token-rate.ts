import type { LogEntry } from "../../../../src/contracts/run-store.js";

/** A model call whose tokens are known. Times are milliseconds since the start of the run. */
export interface CallTokens {
  readonly startMs: number;
  readonly endMs: number;
  readonly outputTokens: number;
}

/** Output tokens per second in equal parts of a time. */
export interface TokenRate {
  readonly perSecond: readonly number[];
  readonly peak: number;
  readonly last: number;
}

/**
 * Returns the call of an entry of type `usage_recorded`. Returns `undefined` if its tokens are
 * unknown.
 */
export function callTokens(entry: LogEntry, startedAtMs: number): CallTokens | undefined {
  const { type, at, outputTokens, latencyMs } = entry;
  if (type !== "usage_recorded" || typeof outputTokens !== "number" || outputTokens <= 0)
    return undefined;
  const endMs = Date.parse(at) - startedAtMs;
  const length = typeof latencyMs === "number" ? Math.max(1, latencyMs) : 1;
  return { startMs: Math.max(0, endMs - length), endMs, outputTokens };
}

/** Distributes the tokens of each call evenly over its time. */
export function tokenRate(
  calls: readonly CallTokens[],
  span: { readonly from: number; readonly to: number },
  parts: number,
): TokenRate {
  const length = (span.to - span.from) / parts;
  const tokens = Array.from({ length: parts }, () => 0);
  let lastPart = -1;
  for (const { startMs, endMs, outputTokens } of calls) {
    const callMs = Math.max(1, endMs - startMs);
    const first = Math.max(0, Math.floor((startMs - span.from) / length));
    const end = Math.min(parts - 1, Math.ceil((startMs + callMs - span.from) / length) - 1);
    for (let i = first; i <= end; i++) {
      const from = Math.max(startMs, span.from + i * length);
      const to = Math.min(startMs + callMs, span.from + (i + 1) * length);
      tokens[i] = (tokens[i] ?? 0) + (outputTokens * Math.max(0, to - from)) / callMs;
    }
    lastPart = Math.max(lastPart, end);
  }
  const perSecond = tokens.map((sum) => (sum * 1_000) / length);
  return {
    perSecond,
    peak: perSecond.reduce((most, rate) => Math.max(most, rate), 0),
    last: perSecond[lastPart] ?? 0,
  };
}
