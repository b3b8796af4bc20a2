import type { Bar } from "../../../../src/plugins/dashboard/protocol/state-types.js";

/**
 * Returns the number of the model call of a bar in its task, from 1. Failed attempts do not count,
 * as in the conversation.
 */
export function callNumber(bars: readonly Bar[], bar: number): number | undefined {
  const chosen = bars[bar];
  if (chosen === undefined || (chosen.kind !== "model" && chosen.kind !== "failed"))
    return undefined;
  const before = bars.filter(({ kind, startMs }) => kind === "model" && startMs < chosen.startMs);
  return before.length + 1;
}

/** Returns the index of the bar of a model call. Returns `undefined` for a call without a bar. */
export function barOfCall(bars: readonly Bar[], call: number | undefined): number | undefined {
  const place = bars.findIndex((bar, i) => bar.kind === "model" && callNumber(bars, i) === call);
  return call === undefined || place < 0 ? undefined : place;
}
