import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";
import { Icon } from "./icon.js";

const NAME = "agentensemble.filters";
const MOST = 12;

export interface SavedFiltersProps {
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
}

/** Filters stored in this browser. The user can add, apply and remove them. */
export function SavedFilters({ filter, onFilter }: SavedFiltersProps): JSX.Element | null {
  const { env } = useBoard();
  const [saved, setSaved] = useState(() => savedIn(env.local.read(NAME)));
  const save = (next: readonly string[]): void => {
    setSaved(next);
    env.local.write(NAME, next.length === 0 ? undefined : JSON.stringify(next));
  };
  const isNew = filter !== "" && !saved.includes(filter);
  if (saved.length === 0 && !isNew) return null;
  return (
    <div class="row wrap saved-filters" role="group" aria-label="Saved filters">
      {saved.map((text) => (
        <span key={text} class="chip line">
          <button type="button" class="sort" onClick={() => onFilter(text)}>
            {visibleText(text)}
          </button>
          <button
            type="button"
            class="sort"
            aria-label={`Forget ${visibleText(text)}`}
            onClick={() => save(saved.filter((other) => other !== text))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {isNew && (
        <button
          type="button"
          class="btn bare"
          onClick={() => save([...saved, filter].slice(-MOST))}
        >
          <Icon name="plus" /> Save filter
        </button>
      )}
    </div>
  );
}

function savedIn(text: string | undefined): readonly string[] {
  try {
    const filters: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(filters) ? filters.filter((one) => typeof one === "string") : [];
  } catch {
    return []; // written by another program
  }
}
