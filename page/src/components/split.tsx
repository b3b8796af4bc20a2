import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { useBoard } from "../stores/board.js";

export interface SplitProps {
  /** The description of the separator. */
  readonly label: string;
  /** The key under which the width is stored for the next visit. */
  readonly name: string;
  /** Width of the left side in percent at the first visit. Default 66. */
  readonly share?: number;
  readonly left: ComponentChildren;
  /** Absent: the left side uses the complete width. */
  readonly right?: ComponentChildren;
}

const NARROWEST = 25;
const WIDEST = 80;
const inRange = (percent: number): number => Math.min(WIDEST, Math.max(NARROWEST, percent));

/**
 * Two panes next to each other, with a handle for mouse and arrow keys. In narrow windows, the
 * right pane covers the left pane.
 */
export function Split({ label, name, share = 66, left, right }: SplitProps): JSX.Element {
  const { env } = useBoard();
  const key = `agentensemble.split.${name}`;
  const box = useRef<HTMLDivElement>(null);
  const [percent, setPercent] = useState(() =>
    inRange(Number(env.local.read(key) ?? share) || share),
  );
  const move = (to: number): void => {
    const next = Math.round(inRange(to));
    setPercent(next);
    env.local.write(key, String(next));
  };
  const onPointerMove = (event: PointerEvent): void => {
    const rect = box.current?.getBoundingClientRect();
    if (rect !== undefined && event.buttons === 1)
      move(((event.clientX - rect.left) / rect.width) * 100);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(percent + step);
  };
  if (right === undefined) return <div class="split one">{left}</div>;
  return (
    <div
      ref={box}
      class="split two"
      style={{ gridTemplateColumns: `minmax(0, ${percent}fr) 1px minmax(0, ${100 - percent}fr)` }}
    >
      {left}
      <div
        class="grip"
        role="separator"
        aria-orientation="vertical"
        aria-label={label}
        aria-valuenow={percent}
        aria-valuemin={NARROWEST}
        aria-valuemax={WIDEST}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={onPointerMove}
      />
      {right}
    </div>
  );
}
