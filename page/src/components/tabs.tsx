import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface TabsProps<K extends string> {
  readonly label: string;
  readonly tabs: readonly {
    readonly id: K;
    readonly title: string;
    /** A number after the title. */
    readonly extra?: ComponentChildren;
  }[];
  readonly selected: K;
  readonly onSelect: (id: K) => void;
  /** `line` (default): a line under the selected tab. `box`: a box around the selected tab. */
  readonly look?: "line" | "box" | undefined;
  /** Id of the element with the selected contents. */
  readonly panel?: string | undefined;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Tabs. Arrow keys, Home and End move between them. */
export function Tabs<K extends string>(props: TabsProps<K>): JSX.Element {
  const { label, tabs, selected, onSelect, look = "line", panel } = props;
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // In narrow windows, the list is wider than its container.
    const tab = list.current?.querySelector('[aria-selected="true"]');
    tab?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [selected]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const place = tabs.findIndex(({ id }) => id === selected);
    const step = STEPS[event.key];
    const next =
      step !== undefined
        ? (place + step + tabs.length) % tabs.length
        : { Home: 0, End: tabs.length - 1 }[event.key];
    const tab = next === undefined ? undefined : tabs[next];
    if (tab === undefined || next === undefined) return;
    event.preventDefault();
    onSelect(tab.id);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };
  return (
    <div
      ref={list}
      class={look === "line" ? "tabs" : "seg"}
      role="tablist"
      aria-label={label}
      onKeyDown={onKeyDown}
    >
      {tabs.map(({ id, title, extra }) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={id === selected}
          aria-controls={id === selected ? panel : undefined}
          tabIndex={id === selected ? 0 : -1}
          onClick={() => onSelect(id)}
        >
          {title}
          {extra}
        </button>
      ))}
    </div>
  );
}
