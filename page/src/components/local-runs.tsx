import type { JSX } from "preact";
import { hrefOf } from "../lib/route.js";
import { runName, runWord } from "../lib/run-words.js";
import { visibleText } from "../lib/visible-text.js";
import { useBoard } from "../stores/board.js";
import { State } from "./state.js";

/** The runs of files that were dropped on the page. */
export function LocalRuns(): JSX.Element | null {
  const runs = useBoard().localRuns.list.value;
  if (runs.length === 0) return null;
  return (
    <section class="card local-runs" aria-label="Opened files">
      <h2>Opened files</h2>
      {runs.map((run) => (
        <a key={run.runId} class="row" href={hrefOf(["runs", run.runId])}>
          <State state={run.state} word={runWord(run)} />
          <b>{runName(run)}</b> <code class="faint clip">{visibleText(run.runId)}</code>
        </a>
      ))}
    </section>
  );
}
