import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { chosen, isWhole, type Span } from "../../lib/timeline/axis.js";
import { placeOf } from "./axis.js";

export interface OverviewProps {
  /** A description of the heights. */
  readonly title: string;
  readonly detail: string;
  /** The heights from left to right, each for an equal part of the total time. */
  readonly heights: readonly number[];
  readonly whole: Span;
  readonly span: Span;
  readonly onSpan: (span: Span) => void;
}

/** The complete time of the run. Dragging over a part selects it as the span of the lanes. */
export function Overview(props: OverviewProps): JSX.Element {
  const { title, detail, heights, whole, span, onSpan } = props;
  const from = useRef<number | undefined>(undefined);
  const most = heights.reduce((max, height) => Math.max(max, height), 0);
  const timeAt = (event: PointerEvent): number => {
    // `currentTarget` is the strip.
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return whole.from + ((event.clientX - left) / Math.max(1, width)) * (whole.to - whole.from);
  };
  return (
    <div class="tl-row overview">
      <div class="name">
        <span class="clip">
          <b>{title}</b>
          <br />
          <span class="faint">{detail}</span>
        </span>
      </div>
      <div
        class="lane brush"
        onPointerDown={(event) => {
          (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId); // the strip
          from.current = timeAt(event);
        }}
        onPointerMove={(event) => {
          if (from.current !== undefined && event.buttons === 1)
            onSpan(chosen(from.current, timeAt(event), whole));
        }}
        onPointerUp={() => {
          from.current = undefined;
        }}
        onDblClick={() => onSpan(whole)}
      >
        {heights.map((height, i) => (
          <i
            key={i}
            class="h"
            style={{
              left: `${(i / heights.length) * 100}%`,
              width: `${100 / heights.length}%`,
              height: `${most === 0 ? 0 : (height / most) * 100}%`,
            }}
          />
        ))}
        {!isWhole(span, whole) && (
          <i
            class="window"
            style={{
              left: placeOf(span.from, whole),
              right: `calc(100% - ${placeOf(span.to, whole)})`,
            }}
          />
        )}
      </div>
    </div>
  );
}
