import type { Bar } from "../../../../src/plugins/dashboard/protocol/state-types.js";

/** Which model call of its task a bar is, from 1, as the conversation counts them: failed attempts are no calls of their own. */
export function callNumber(bars: readonly Bar[], bar: number): number | undefined {
  const chosen = bars[bar];
  if (chosen === undefined || (chosen.kind !== "model" && chosen.kind !== "failed"))
    return undefined;
  const before = bars.filter(({ kind, startMs }) => kind === "model" && startMs < chosen.startMs);
  return before.length + 1;
}
