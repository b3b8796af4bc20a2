import type { JSX } from "preact";
import { LEGEND } from "../../lib/timeline/bar-words.js";
import { Icon } from "../icon.js";
import { Segments } from "../segments.js";
import type { SpanControl } from "./use-span.js";

export type TimelineMode = "task" | "agent";

export interface ToolbarProps {
  readonly mode: TimelineMode;
  readonly onMode: (mode: TimelineMode) => void;
  readonly control: SpanControl;
  readonly isWhole: boolean;
}

const MODES = [
  { id: "task", title: "by task" },
  { id: "agent", title: "by agent" },
] as const;

/** The legend, the zoom and the selection of rows. */
export function Toolbar({ mode, onMode, control, isWhole }: ToolbarProps): JSX.Element {
  return (
    <div class="row pane-bar wrap">
      <div class="legend">
        {LEGEND.map(([kind, word]) => (
          <span key={kind}>
            <i class={kind} />
            {word}
          </span>
        ))}
      </div>
      <span class="grow" />
      <span class="faint hide-s gesture-hint">scroll over the axis to zoom, drag to move</span>
      <div class="row zoom" role="group" aria-label="Zoom">
        <button
          type="button"
          class="btn icon"
          aria-label="Zoom out"
          disabled={isWhole}
          onClick={() => control.zoom(1.6)}
        >
          <Icon name="minus" />
        </button>
        <button
          type="button"
          class="btn icon"
          aria-label="Zoom in"
          onClick={() => control.zoom(1 / 1.6)}
        >
          <Icon name="plus" />
        </button>
        <button
          type="button"
          class="btn icon"
          aria-label="Show the whole time"
          disabled={isWhole}
          onClick={() => control.all()}
        >
          <Icon name="fit" />
        </button>
      </div>
      <Segments label="Rows" options={MODES} selected={mode} onSelect={onMode} />
    </div>
  );
}
