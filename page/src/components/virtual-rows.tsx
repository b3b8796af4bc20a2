import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface VirtualRowsProps {
  readonly count: number;
  /** Height of each row in pixels. */
  readonly rowHeight: number;
  /** Draws one row. `style` contains the position of its outermost element. */
  readonly row: (
    index: number,
    style: { readonly top: string; readonly height: string },
  ) => ComponentChildren;
  readonly label: string;
  /** Default `list`. Rows need the corresponding role. */
  readonly role?: "list" | "grid" | "treegrid" | "rowgroup" | undefined;
  /** The row to which the list scrolls when this value changes. */
  readonly shown?: number | undefined;
  /** The head above the rows. It scrolls horizontally with them. */
  readonly head?: ComponentChildren;
  readonly class?: string | undefined;
}

/** Number of rows that are drawn outside of the visible part, above and below. */
const SPARE = 8;

/** A list that draws only the visible rows. */
export function VirtualRows(props: VirtualRowsProps): JSX.Element {
  const { count, rowHeight, row, label, role = "list", shown, head } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const read = (): void => {
      const { scrollTop, clientHeight } = element;
      setView((before) =>
        before.top === scrollTop && before.height === clientHeight
          ? before
          : { top: scrollTop, height: clientHeight },
      );
    };
    const observer = new ResizeObserver(read);
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    read();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || shown === undefined || shown < 0) return;
    const top = shown * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight * 2 > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight * 2 - element.clientHeight;
  }, [shown, rowHeight]);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - SPARE);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + SPARE);
  const rows: ComponentChildren[] = [];
  for (let i = first; i < last; i++)
    rows.push(row(i, { top: `${i * rowHeight}px`, height: `${rowHeight}px` }));
  return (
    <div
      ref={box}
      class={`scroll ${props.class ?? ""}`}
      tabIndex={0}
      aria-label={label}
      role="group"
    >
      {head}
      <div
        class="virtual"
        role={role}
        aria-label={label}
        style={{ height: `${count * rowHeight}px` }}
      >
        {rows}
      </div>
    </div>
  );
}
