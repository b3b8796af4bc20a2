import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isWhole, panned, zoomed, type Span } from "../../lib/timeline/axis.js";

/** The visible part of the time, and its controls. */
export interface SpanControl {
  readonly span: Span;
  set(span: Span): void;
  /** Zooms by a factor around a time. Default: around the middle. */
  zoom(factor: number, at?: number): void;
  /** Moves the span by a fraction of the visible part. */
  pan(share: number): void;
  all(): void;
}

/** Follows the end of the run until the user selects a part. */
export function useSpan(whole: Span): SpanControl {
  const [part, setPart] = useState<Span>();
  const span = part ?? whole;
  const set = (next: Span): void => setPart(isWhole(next, whole) ? undefined : next);
  return {
    span,
    set,
    zoom: (factor, at = (span.from + span.to) / 2) => set(zoomed(span, at, factor, whole)),
    pan: (share) => set(panned(span, share * (span.to - span.from), whole)),
    all: () => setPart(undefined),
  };
}

export interface Gestures {
  readonly box: RefObject<HTMLDivElement | null>;
  /** The element with the width of the span. */
  readonly lane: RefObject<HTMLDivElement | null>;
  readonly control: SpanControl;
  readonly whole: Span;
  /** Called with a time and the element under the pointer, when a lane is clicked. */
  readonly onPick: (atMs: number, target: Element) => void;
}

/** Pixels that a pointer moves before a click becomes a drag. */
const DRAG_PX = 4;
const STEP = 1.2;

/** Zooms with the wheel, moves with drags, and reports clicks. */
export function useGestures(gestures: Gestures): void {
  const latest = useRef(gestures);
  latest.current = gestures;
  useEffect(() => {
    const element = gestures.box.current;
    if (element === null) return undefined;
    const timeAt = (clientX: number): number => {
      const { lane, control } = latest.current;
      const rect = lane.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
      const { from, to } = control.span;
      return from + ((clientX - rect.left) / Math.max(1, rect.width)) * (to - from);
    };
    const onWheel = (event: WheelEvent): void => wheel(event, element, latest.current, timeAt);
    const drag = new Drag(latest, timeAt);
    element.addEventListener("wheel", onWheel, { passive: false });
    element.addEventListener("pointerdown", drag.down);
    element.addEventListener("pointermove", drag.move);
    element.addEventListener("pointerup", drag.up);
    return () => {
      element.removeEventListener("wheel", onWheel);
      element.removeEventListener("pointerdown", drag.down);
      element.removeEventListener("pointermove", drag.move);
      element.removeEventListener("pointerup", drag.up);
    };
  }, []);
}

/**
 * Handles the wheel. It zooms over the axis, with Ctrl, and without a scroll range. Horizontally it
 * moves the span.
 */
function wheel(
  event: WheelEvent,
  box: Element,
  { control }: Gestures,
  timeAt: (clientX: number) => number,
): void {
  const { deltaX, deltaY } = event;
  const target = event.target instanceof Element ? event.target : box;
  if (target.closest(".lane") === null) return;
  const isSideways = event.shiftKey || Math.abs(deltaX) > Math.abs(deltaY);
  const rows = box.querySelector(".scroll");
  const scrolls = rows !== null && rows.scrollHeight > rows.clientHeight + 1;
  const zooms = event.ctrlKey || event.metaKey || target.closest(".axis, .brush") !== null;
  if (isSideways) control.pan((deltaX === 0 ? deltaY : deltaX) / 600);
  else if (zooms || !scrolls) control.zoom(deltaY > 0 ? STEP : 1 / STEP, timeAt(event.clientX));
  else return;
  event.preventDefault();
}

class Drag {
  readonly #latest: { readonly current: Gestures };
  readonly #timeAt: (clientX: number) => number;
  #from: { readonly x: number; readonly span: Span; readonly target: Element } | undefined;
  #isMoving = false;

  constructor(latest: { readonly current: Gestures }, timeAt: (clientX: number) => number) {
    this.#latest = latest;
    this.#timeAt = timeAt;
  }

  readonly down = (event: PointerEvent): void => {
    const target = event.target instanceof Element ? event.target.closest(".lane") : null;
    if (event.button !== 0 || target === null || target.closest(".brush") !== null) return;
    this.#from = { x: event.clientX, span: this.#latest.current.control.span, target };
    this.#isMoving = false;
  };

  readonly move = (event: PointerEvent): void => {
    if (this.#from === undefined || event.buttons !== 1) return;
    const { x, span, target } = this.#from;
    const moved = event.clientX - x;
    if (!this.#isMoving && Math.abs(moved) < DRAG_PX) return;
    if (!this.#isMoving) target.setPointerCapture(event.pointerId);
    this.#isMoving = true;
    const { control, whole, lane } = this.#latest.current;
    const width = Math.max(1, lane.current?.getBoundingClientRect().width ?? 1);
    control.set(panned(span, (-moved / width) * (span.to - span.from), whole));
  };

  readonly up = (event: PointerEvent): void => {
    const from = this.#from;
    this.#from = undefined;
    if (from === undefined || this.#isMoving) return;
    this.#latest.current.onPick(this.#timeAt(event.clientX), from.target);
  };
}
