import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { parseRunFilter } from "../../../../src/plugins/dashboard/protocol/run-filter.js";
import { searchPath } from "../../lib/run-search.js";
import { useBoard } from "../../stores/board.js";
import { FoundRuns } from "./found-runs.js";
import { TextHits } from "./text-hits.js";

export interface SearchResultsProps {
  readonly text: string;
  /** The searched run. `undefined`: all runs. */
  readonly runId: string | undefined;
  /** Called when a link to another run was clicked. */
  readonly onOpened: () => void;
}

/** The results of a search, each with a link. */
export function SearchResults({ text, runId, onOpened }: SearchResultsProps): JSX.Element {
  const { env } = useBoard();
  const [isEverywhere, setEverywhere] = useState(runId === undefined);
  if (!isEverywhere && runId !== undefined) {
    const path = `/api/search?run=${encodeURIComponent(runId)}&q=${encodeURIComponent(text)}`;
    return (
      <>
        <TextHits path={path} runId={runId} none="Nothing in this run has this text." />
        {env.isSaved !== true && (
          <button type="button" class="btn" onClick={() => setEverywhere(true)}>
            Search all runs
          </button>
        )}
      </>
    );
  }
  const { query, problems } = parseRunFilter(text);
  if (problems.length > 0)
    return (
      <p class="st failed" role="status">
        {problems.map(({ message }) => message).join("; ")}
      </p>
    );
  return (
    <div onClick={({ target }) => target instanceof Element && target.closest("a") && onOpened()}>
      <h2>Runs</h2>
      <FoundRuns filter={text} query={query} />
      {query.text !== undefined && (
        <>
          <h2>Tasks and texts</h2>
          <TextHits path={searchPath(query)} none="No task or text of these runs." />
        </>
      )}
    </div>
  );
}
