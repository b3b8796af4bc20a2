import type { Bar, BarKind } from "../../../../src/plugins/dashboard/protocol/state-types.js";
import type { Span } from "./axis.js";

/** A drawn bar. Positions are in percent of the width of the lane. */
export interface Box {
  /** The place of the bar among the bars of its task. */
  readonly index: number;
  readonly kind: BarKind;
  readonly left: number;
  readonly width: number;
  /** Whether the bar has no end yet. */
  readonly open: boolean;
  /** The number of merged bars: bars that are too narrow are merged. */
  readonly count: number;
}

/**
 * Minimum width of a bar in percent. Narrower consecutive bars of one kind are drawn as one bar.
 */
const NARROW = 0.15;

/** Returns the boxes of the bars within a span. `nowMs` is the end of bars without an end. */
export function boxesOf(bars: readonly Bar[], span: Span, nowMs: number): readonly Box[] {
  const scale = 100 / (span.to - span.from);
  const boxes: Box[] = [];
  bars.forEach(({ kind, startMs, endMs }, index) => {
    const end = Math.max(startMs, endMs ?? nowMs);
    if (end < span.from || startMs > span.to) return;
    const left = Math.max(0, (startMs - span.from) * scale);
    const right = Math.min(100, (end - span.from) * scale);
    const box = { index, kind, left, width: right - left, open: endMs === undefined, count: 1 };
    const before = boxes.at(-1);
    if (before !== undefined && isOneWith(before, box))
      boxes[boxes.length - 1] = {
        ...before,
        width: Math.max(before.width, right - before.left),
        count: before.count + 1,
      };
    else boxes.push(box);
  });
  return boxes;
}

function isOneWith(before: Box, box: Box): boolean {
  return (
    before.kind === box.kind &&
    box.width < NARROW &&
    box.left - (before.left + before.width) < NARROW &&
    before.left + before.width <= box.left + NARROW
  );
}

/** Returns the index of the innermost bar of a task at a time. Returns -1 if there is none. */
export function barAt(bars: readonly Bar[], atMs: number, nowMs: number): number {
  let found = -1;
  bars.forEach(({ kind, startMs, endMs }, index) => {
    if (startMs > atMs || (endMs ?? nowMs) < atMs) return;
    if (found === -1 || kind !== "task") found = index;
  });
  return found;
}
