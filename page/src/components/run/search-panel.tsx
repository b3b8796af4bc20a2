import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type {
  SearchBody,
  SearchHit,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { useFetched } from "../../hooks/use-fetched.js";
import { errorWords } from "../../lib/api-words.js";
import { hrefOf } from "../../lib/route.js";
import { visibleText } from "../../lib/visible-text.js";
import { useBoard } from "../../stores/board.js";
import { Icon } from "../icon.js";
import { Notice } from "../notice.js";

export interface SearchPanelProps {
  readonly runId: string;
  readonly onClose: () => void;
}

/** Delay between the last key and a search. */
const PAUSE_MS = 250;

const PLACES: Readonly<Record<SearchHit["where"], string>> = {
  task: "description",
  "system-prompt": "system prompt",
  "user-prompt": "prompt",
  answer: "answer",
  reasoning: "reasoning",
  arguments: "arguments",
  result: "result",
  output: "output",
  review: "review",
  error: "error",
};

/** Finds texts of prompts, answers, arguments and results, and opens their positions. */
export function SearchPanel({ runId, onClose }: SearchPanelProps): JSX.Element {
  const { env } = useBoard();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [wanted, setWanted] = useState("");
  useEffect(() => input.current?.focus(), []);
  useEffect(() => env.later(() => setWanted(text.trim()), PAUSE_MS), [text]);
  return (
    <section
      class="search-panel card"
      aria-label="Search in the run"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <form
        class="row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          setWanted(text.trim());
        }}
      >
        <label class="find grow">
          <Icon name="search" />
          <input
            ref={input}
            value={text}
            placeholder="Prompts, answers, arguments, results"
            aria-label="Text to search in the run"
            autocomplete="off"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="button" class="btn bare icon" aria-label="Close the search" onClick={onClose}>
          <Icon name="close" />
        </button>
      </form>
      {wanted !== "" && <Hits runId={runId} text={wanted} />}
    </section>
  );
}

function Hits({ runId, text }: { readonly runId: string; readonly text: string }): JSX.Element {
  const state = useFetched<SearchBody>([
    `/api/search?run=${encodeURIComponent(runId)}&q=${encodeURIComponent(text)}`,
  ]);
  if (state.kind === "failed") return <Notice kind="failed">{errorWords(state.error)}</Notice>;
  const found = state.kind === "ready" ? state.bodies[0] : undefined;
  if (found === undefined) return <p class="muted">Searching …</p>;
  return (
    <>
      <p class="faint" role="status">
        {found.hits.length === 0
          ? "Nothing in this run has this text."
          : `${found.hits.length} places${found.more ? ", and more" : ""}`}
      </p>
      <ul class="hits">
        {found.hits.map((hit, i) => (
          <li key={i}>
            <Hit hit={hit} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Hit({ hit }: { readonly hit: SearchHit }): JSX.Element {
  const { route } = useBoard();
  const { path, query } = route.current.value;
  const { taskId, n, where, excerpt, from, to } = hit;
  const place =
    taskId === undefined
      ? { ...query, view: "events", entry: String(n) }
      : { ...query, task: taskId, call: undefined, entry: String(n) };
  return (
    <a href={hrefOf(path, place)}>
      <span class="row">
        <b class="clip">{taskId === undefined ? "the run" : visibleText(taskId)}</b>
        <span class="faint nowrap">{PLACES[where]}</span>
      </span>
      <span class="excerpt">
        {visibleText(excerpt.slice(0, from))}
        <mark>{visibleText(excerpt.slice(from, to))}</mark>
        {visibleText(excerpt.slice(to))}
      </span>
    </a>
  );
}
