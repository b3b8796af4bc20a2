/** A part of the time of a run, in milliseconds since its start. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The shortest span that can be shown. */
const SHORTEST_MS = 2;

/** Returns the complete time of a run, with a margin after its end. */
export function wholeSpan(endMs: number): Span {
  return { from: 0, to: Math.max(10, endMs * 1.04) };
}

/**
 * Returns the span that is `factor` times as long and keeps the position of the time `at`. The
 * result is within `whole`.
 */
export function zoomed(span: Span, at: number, factor: number, whole: Span): Span {
  const length = span.to - span.from;
  const wanted = Math.min(whole.to - whole.from, Math.max(SHORTEST_MS, length * factor));
  const share = length === 0 ? 0.5 : (at - span.from) / length;
  const from = at - wanted * share;
  return within({ from, to: from + wanted }, whole);
}

/** Returns the span moved by a time. The result has the same length and is within `whole`. */
export function panned(span: Span, byMs: number, whole: Span): Span {
  return within({ from: span.from + byMs, to: span.to + byMs }, whole);
}

/** Returns the span between two times in any order. The result has at least the shortest length. */
export function chosen(one: number, other: number, whole: Span): Span {
  const from = Math.min(one, other);
  const to = Math.max(one, other, from + SHORTEST_MS);
  return within({ from, to }, whole);
}

function within({ from, to }: Span, whole: Span): Span {
  const length = Math.min(to - from, whole.to - whole.from);
  const start = Math.min(Math.max(from, whole.from), whole.to - length);
  return { from: start, to: start + length };
}

/** Returns whether the span is the complete time. */
export function isWhole(span: Span, whole: Span): boolean {
  return span.from <= whole.from && span.to >= whole.to;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Distances of ticks that are easy to read. */
const STEPS: readonly number[] = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  SECOND,
  2 * SECOND,
  5 * SECOND,
  10 * SECOND,
  20 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  20 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
];
const DAY = 24 * HOUR;

/** Returns the distance of the ticks of a span, for at most `most` ticks. */
export function tickStep(span: Span, most: number): number {
  const least = (span.to - span.from) / Math.max(1, most);
  return STEPS.find((step) => step >= least) ?? Math.ceil(least / DAY) * DAY;
}

/** Returns the times of the ticks within a span. */
export function ticksOf(span: Span, most: number): readonly number[] {
  const step = tickStep(span, most);
  const ticks: number[] = [];
  for (let at = Math.ceil(span.from / step) * step; at <= span.to; at += step) ticks.push(at);
  return ticks;
}

/** Returns the text of a tick, as precise as the distance of the ticks requires. */
export function tickText(at: number, step: number): string {
  if (step < SECOND)
    return at === 0 ? "0" : step < 10 && at < SECOND ? `${at} ms` : seconds(at, step);
  if (step < MINUTE && at < MINUTE) return `${at / SECOND} s`;
  const [hours, minutes] = [Math.floor(at / HOUR), Math.floor((at % HOUR) / MINUTE)];
  const rest = step < MINUTE ? `:${twoDigits(Math.floor((at % MINUTE) / SECOND))}` : "";
  if (hours > 0) return `${hours}:${twoDigits(minutes)}${rest === "" ? " h" : rest}`;
  return rest === "" ? `${minutes} min` : `${minutes}${rest}`;
}

function seconds(at: number, step: number): string {
  const digits = step >= 100 ? 1 : step >= 10 ? 2 : 3;
  return `${(at / SECOND).toFixed(digits)} s`;
}

const twoDigits = (value: number): string => String(value).padStart(2, "0");
