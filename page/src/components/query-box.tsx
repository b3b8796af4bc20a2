import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { parseRunFilter } from "../../../src/plugins/dashboard/protocol/run-filter.js";
import { filterParts } from "../lib/run-search.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";
import { Icon } from "./icon.js";

export interface QueryBoxProps {
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly input: RefObject<HTMLInputElement | null>;
}

/** Delay between the last key and the application of a filter. */
const PAUSE_MS = 300;

/** The filter of the list of runs as text, with its conditions as chips. */
export function QueryBox({ filter, onFilter, input }: QueryBoxProps): JSX.Element {
  const { env } = useBoard();
  const [text, setText] = useState(filter);
  const applied = useRef(filter);
  useEffect(() => {
    // A filter from another source: a chip, a state, the back button.
    if (filter !== applied.current) setText(filter);
    applied.current = filter;
  }, [filter]);
  const apply = (next: string): void => {
    applied.current = next;
    onFilter(next);
  };
  useEffect(
    () => (text === applied.current ? undefined : env.later(() => apply(text.trim()), PAUSE_MS)),
    [text],
  );
  const { problems } = parseRunFilter(text);
  return (
    <>
      <form
        class="find"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          apply(text.trim());
        }}
      >
        <Icon name="search" />
        <input
          ref={input}
          value={text}
          placeholder="state:failed tag:customer=acme heat pump"
          aria-label="Filter of the runs"
          aria-invalid={problems.length > 0}
          aria-describedby={problems.length > 0 ? "filter-problems" : undefined}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <kbd class="hide-s">F</kbd>
      </form>
      <FilterChips filter={filter} onFilter={onFilter} />
      {problems.length > 0 && (
        <span id="filter-problems" class="st failed" role="status">
          {problems.map(({ message }) => message).join("; ")}
        </span>
      )}
    </>
  );
}

/** The conditions of the filter, each with a button that removes it. */
function FilterChips({
  filter,
  onFilter,
}: Pick<QueryBoxProps, "filter" | "onFilter">): JSX.Element {
  return (
    <>
      {filterParts(filter).map(({ name, without }) => (
        <span key={name} class="chip line">
          {visibleText(name)}
          <button
            type="button"
            class="sort"
            aria-label={`Remove ${visibleText(name)}`}
            onClick={() => onFilter(without)}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
    </>
  );
}
