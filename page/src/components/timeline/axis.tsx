import type { JSX, RefObject } from "preact";
import { tickStep, ticksOf, tickText, type Span } from "../../lib/timeline/axis.js";

export interface AxisProps {
  readonly span: Span;
  readonly lane: RefObject<HTMLDivElement | null>;
}

/** Maximum number of ticks in wide and in narrow windows. */
const MOST_TICKS = [8, 3] as const;

/** The times above the lanes. */
export function Axis({ span, lane }: AxisProps): JSX.Element {
  const most = MOST_TICKS[window.innerWidth > 900 ? 0 : 1];
  const step = tickStep(span, most);
  return (
    <div class="tl-row axis" aria-hidden="true">
      <div class="name" />
      <div class="lane" ref={lane}>
        {ticksOf(span, most).map((at) => (
          <i key={at} class="tick" style={{ left: placeOf(at, span) }}>
            <span>{tickText(at, step)}</span>
          </i>
        ))}
      </div>
    </div>
  );
}

/** Returns the position of a time in a span, for the style of an element. */
export function placeOf(at: number, { from, to }: Span): string {
  return `${((at - from) / (to - from)) * 100}%`;
}
