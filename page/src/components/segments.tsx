import type { ComponentChildren, JSX } from "preact";

export interface SegmentsProps<K extends string> {
  readonly label: string;
  readonly options: readonly {
    readonly id: K;
    readonly title: string;
    readonly extra?: ComponentChildren;
  }[];
  /** The selected value. Empty: none. */
  readonly selected: K | "";
  readonly onSelect: (id: K) => void;
}

/** A selection of one of several values, as buttons. */
export function Segments<K extends string>(props: SegmentsProps<K>): JSX.Element {
  const { label, options, selected, onSelect } = props;
  return (
    <div class="seg" role="group" aria-label={label}>
      {options.map(({ id, title, extra }) => (
        <button key={id} type="button" aria-pressed={id === selected} onClick={() => onSelect(id)}>
          {title}
          {extra !== undefined && <span class="faint">{extra}</span>}
        </button>
      ))}
    </div>
  );
}
