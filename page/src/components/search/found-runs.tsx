import type { JSX } from "preact";
import type { RunListBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import type { FilterQuery } from "../../../../src/plugins/dashboard/protocol/run-filter.js";
import { useFetched } from "../../hooks/use-fetched.js";
import { errorWords } from "../../lib/api-words.js";
import { counted, formatAgo } from "../../lib/format.js";
import { hrefOf } from "../../lib/route.js";
import { runsPath } from "../../lib/run-search.js";
import { inputsText, runName, shortId } from "../../lib/run-words.js";
import { visibleText } from "../../lib/visible-text.js";
import { useBoard } from "../../stores/board.js";
import { Notice } from "../notice.js";
import { State } from "../state.js";

const MOST = 5;

export interface FoundRunsProps {
  readonly filter: string;
  readonly query: FilterQuery;
}

/** The newest runs that match a filter. */
export function FoundRuns({ filter, query }: FoundRunsProps): JSX.Element {
  const { clock } = useBoard();
  const state = useFetched<RunListBody>([runsPath(query, MOST)]);
  if (state.kind === "failed") return <Notice kind="failed">{errorWords(state.error)}</Notice>;
  if (state.kind === "loading") return <p class="muted">Searching …</p>;
  const [{ runs, total } = { runs: [], total: 0 }] = state.bodies;
  if (total === 0) return <p class="faint">No run has this in its name, inputs, tags or error.</p>;
  return (
    <ul class="hits">
      {runs.map((run) => (
        <li key={run.runId}>
          <a href={hrefOf(["runs", run.runId])}>
            <span class="row">
              <State state={run.state} isIcon />
              <b class="clip">{runName(run)}</b>
              <code>{visibleText(shortId(run))}</code>
              <span class="grow" />
              <span class="faint nowrap">
                {formatAgo(Date.parse(run.startedAt), clock.seconds.value)}
              </span>
            </span>
            <span class="excerpt clip">{inputsText(run.inputs)}</span>
          </a>
        </li>
      ))}
      {total > runs.length && (
        <li>
          <a class="link" href={hrefOf(["runs"], { q: filter })}>
            {`List all ${counted(total, "run")}`}
          </a>
        </li>
      )}
    </ul>
  );
}
