import type { JSX } from "preact";
import type { WorkState } from "../../../src/contracts/run-store.js";

export interface MeterProps {
  /** The description of the meter: `3 of 8 tasks done`. */
  readonly label: string;
  /** Parts from the left, with their share of `total`. */
  readonly parts: readonly {
    readonly kind: "done" | "running" | "failed" | "waiting" | "stopped" | "accent" | "held";
    readonly share: number;
  }[];
  /** Default: the sum of the shares. */
  readonly total?: number | undefined;
  /** Width in pixels. Default: the available width. */
  readonly width?: number | undefined;
}

/** A bar of parts. */
export function Meter({ label, parts, total, width }: MeterProps): JSX.Element {
  const sum = parts.reduce((shares, { share }) => shares + share, 0);
  const whole = Math.max(total ?? sum, sum, Number.MIN_VALUE);
  return (
    <div
      class="meter"
      role="img"
      aria-label={label}
      style={width === undefined ? {} : { width: `${width}px` }}
    >
      {parts.map(
        ({ kind, share }) =>
          share > 0 && <i key={kind} class={kind} style={{ width: `${(share / whole) * 100}%` }} />,
      )}
    </div>
  );
}

/** Returns the parts of a meter of tasks by state. */
export function taskParts(counts: Readonly<Record<WorkState, number>>): MeterProps["parts"] {
  return (["done", "failed", "waiting", "running", "stopped"] as const).map((kind) => ({
    kind,
    share: counts[kind],
  }));
}

/** Returns the number of tasks, and the number of done tasks. */
export function taskCount(counts: Readonly<Record<WorkState, number>>): {
  readonly done: number;
  readonly all: number;
} {
  return { done: counts.done, all: Object.values(counts).reduce((sum, count) => sum + count, 0) };
}
