import { useEffect, useRef, useState } from "preact/hooks";
import { scaleToFit } from "../lib/graph-layout.js";

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The position of the drawing in its window. */
export interface PanZoom {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface PanZoomControls {
  readonly place: PanZoom;
  /** Shows the complete drawing, also after changes of the window or the drawing. */
  readonly fit: () => void;
  /** Zooms by a factor around the middle of the window. */
  readonly zoom: (factor: number) => void;
  readonly pan: (dx: number, dy: number) => void;
  readonly handlers: {
    readonly onWheel: (event: WheelEvent) => void;
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onPointerMove: (event: PointerEvent) => void;
    readonly onPointerUp: (event: PointerEvent) => void;
    readonly onClickCapture: (event: MouseEvent) => void;
  };
}

const MIN_SCALE = 0.05;
const MAX_SCALE = 2;
const MARGIN = 18;
/** Distance in pixels from which a movement is a drag, not a click. */
const DRAG = 4;

/** Zoom by wheel and buttons, pan by drag and keys. */
export function usePanZoom(window: Size, drawing: Size): PanZoomControls {
  const [own, setOwn] = useState<PanZoom | undefined>(undefined);
  const drag = useRef<{ x: number; y: number; moved: boolean } | undefined>(undefined);
  const place = own ?? fitted(window, drawing);
  const latest = useRef(place);
  latest.current = place;
  useEffect(() => setOwn(undefined), [drawing.width, drawing.height]);
  const zoomAt = (factor: number, x: number, y: number): void => {
    const from = latest.current;
    const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, from.scale * factor));
    const ratio = scale / from.scale;
    setOwn({ scale, x: x - (x - from.x) * ratio, y: y - (y - from.y) * ratio });
  };
  const pan = (dx: number, dy: number): void => {
    const { x, y, scale } = latest.current;
    setOwn({ x: x + dx, y: y + dy, scale });
  };
  return {
    place,
    fit: () => setOwn(undefined),
    zoom: (factor) => zoomAt(factor, window.width / 2, window.height / 2),
    pan,
    handlers: {
      onWheel: (event) => {
        event.preventDefault();
        // `currentTarget` is an element.
        const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
        const factor = Math.exp(-event.deltaY / 400);
        zoomAt(factor, event.clientX - box.left, event.clientY - box.top);
      },
      onPointerDown: ({ button, clientX, clientY }) => {
        if (button === 0) drag.current = { x: clientX, y: clientY, moved: false };
      },
      onPointerMove: (event) => {
        const from = drag.current;
        if (from === undefined || event.buttons === 0) return;
        const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
        if (!from.moved && Math.hypot(dx, dy) < DRAG) return;
        if (!from.moved) (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        drag.current = { x: event.clientX, y: event.clientY, moved: true };
        pan(dx, dy);
      },
      onPointerUp: () => {
        // The click after a drag follows. It must open nothing.
        if (drag.current?.moved !== true) drag.current = undefined;
      },
      onClickCapture: (event) => {
        const wasDrag = drag.current?.moved === true;
        drag.current = undefined;
        if (!wasDrag) return;
        event.preventDefault();
        event.stopPropagation();
      },
    },
  };
}

function fitted(window: Size, drawing: Size): PanZoom {
  const room = { width: window.width - 2 * MARGIN, height: window.height - 2 * MARGIN };
  if (room.width <= 0 || room.height <= 0) return { x: 0, y: 0, scale: 1 };
  const scale = scaleToFit(drawing, room);
  return { scale, x: Math.round((window.width - drawing.width * scale) / 2), y: MARGIN };
}
