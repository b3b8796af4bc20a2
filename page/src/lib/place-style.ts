import type { Rect } from "./graph-layout.js";

/** Styles of an element at a position of a drawing. */
export type PlaceStyle = {
  readonly left: string;
  readonly top: string;
  readonly width: string;
  readonly height: string;
};

export function placeStyle({ x, y, width, height }: Rect): PlaceStyle {
  return { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` };
}
