import type { JSX } from "preact";
import type {
  SearchBody,
  SearchHit,
} from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { useFetched } from "../../hooks/use-fetched.js";
import { errorWords } from "../../lib/api-words.js";
import { counted } from "../../lib/format.js";
import { hrefOf } from "../../lib/route.js";
import { runName, shortId } from "../../lib/run-words.js";
import { visibleText } from "../../lib/visible-text.js";
import { useBoard } from "../../stores/board.js";
import { Notice } from "../notice.js";

const PLACES: Readonly<Record<SearchHit["where"], string>> = {
  name: "task",
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

export interface TextHitsProps {
  readonly path: string;
  /** The open run, if only this run is searched. */
  readonly runId?: string | undefined;
  /** Shown if there are no hits. */
  readonly none: string;
}

/** The names of tasks and the texts that a search has found. */
export function TextHits({ path, runId, none }: TextHitsProps): JSX.Element {
  const state = useFetched<SearchBody>([path]);
  if (state.kind === "failed") return <Notice kind="failed">{errorWords(state.error)}</Notice>;
  const found = state.kind === "ready" ? state.bodies[0] : undefined;
  if (found === undefined) return <p class="muted">Searching …</p>;
  const { hits, more } = found;
  return (
    <>
      <p class="faint" role="status">
        {hits.length === 0 && !more
          ? none
          : `${counted(hits.length, "place")}${more ? ", and more" : ""}`}
      </p>
      <ul class="hits">
        {hits.map((hit, i) => (
          <li key={i}>
            <Hit hit={hit} isOpen={runId !== undefined} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** One hit. `isOpen`: the run of the hit is open, and the rest of its address remains. */
function Hit({ hit, isOpen }: { readonly hit: SearchHit; readonly isOpen: boolean }): JSX.Element {
  const { route, runs } = useBoard();
  const { taskId, n, where, excerpt, from, to, runId } = hit;
  const run = runs.summaryOf(runId);
  const here = isOpen ? route.current.value.query : {};
  const place =
    taskId === undefined
      ? { ...here, view: "events", entry: String(n) }
      : { ...here, task: taskId, call: undefined, entry: String(n) };
  return (
    <a href={hrefOf(["runs", runId], place)}>
      <span class="row">
        <b class="clip">{taskId === undefined ? "the run" : visibleText(taskId)}</b>
        <span class="faint nowrap">{PLACES[where]}</span>
        {!isOpen && (
          <span class="faint clip">
            {run !== undefined && `${runName(run)} `}
            <code>{visibleText(run === undefined ? runId.slice(0, 8) : shortId(run))}</code>
          </span>
        )}
      </span>
      <span class="excerpt">
        {visibleText(excerpt.slice(0, from))}
        <mark>{visibleText(excerpt.slice(from, to))}</mark>
        {visibleText(excerpt.slice(to))}
      </span>
    </a>
  );
}
