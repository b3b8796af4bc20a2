import type { Bar, BarKind } from "../../../../src/plugins/dashboard/protocol/state-types.js";

/** The use of the time of a task. `framework`: none of the other uses. */
export type SpentKind = "model" | "failed" | "tool" | "delegation" | "waiting" | "framework";

/** The use of the time of a task. */
export interface TimeSpent {
  /** Milliseconds from its first start to its last end. */
  readonly wholeMs: number;
  /** The parts in the displayed order. Kinds without time are omitted. */
  readonly parts: readonly { readonly kind: SpentKind; readonly ms: number }[];
}

/** The order of precedence of kinds for overlapping bars. */
const ORDER: readonly SpentKind[] = ["failed", "model", "tool", "delegation", "waiting"];

const SHOWN_ORDER: readonly SpentKind[] = [
  "model",
  "tool",
  "delegation",
  "waiting",
  "failed",
  "framework",
];

const KIND_OF: Readonly<Record<BarKind, SpentKind | undefined>> = {
  task: undefined,
  model: "model",
  failed: "failed",
  tool: "tool",
  delegation: "delegation",
  "wait-review": "waiting",
  "wait-limit": "waiting",
  "wait-retry": "waiting",
};

/** Divides the time of a task by kind. Each instant counts once. */
export function timeSpent(bars: readonly Bar[], nowMs: number): TimeSpent {
  const edges = [...new Set(bars.flatMap(({ startMs, endMs }) => [startMs, endMs ?? nowMs]))];
  edges.sort((a, b) => a - b);
  const sums = new Map<SpentKind, number>();
  let wholeMs = 0;
  const opening = bars.toSorted((a, b) => a.startMs - b.startMs);
  let next = 0;
  let open: Bar[] = [];
  edges.forEach((from, i) => {
    const to = edges[i + 1];
    if (to === undefined) return;
    for (let bar = opening[next]; bar !== undefined && bar.startMs <= from; bar = opening[next]) {
      open.push(bar);
      next++;
    }
    open = open.filter(({ endMs }) => (endMs ?? nowMs) > from);
    if (open.length === 0) return;
    const kinds = new Set(open.map(({ kind }) => KIND_OF[kind]));
    const kind = ORDER.find((one) => kinds.has(one)) ?? "framework";
    sums.set(kind, (sums.get(kind) ?? 0) + to - from);
    wholeMs += to - from;
  });
  return {
    wholeMs,
    parts: SHOWN_ORDER.flatMap((kind) => {
      const ms = sums.get(kind);
      return ms === undefined ? [] : [{ kind, ms }];
    }),
  };
}
