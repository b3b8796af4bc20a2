import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { RunSummary } from "../../../../src/contracts/run-store.js";
import type { CompareBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { ApiError } from "../../api.js";
import { errorWords } from "../../lib/api-words.js";
import { countsText, figureRows } from "../../lib/compare-words.js";
import { formatTime } from "../../lib/format.js";
import { hrefOf } from "../../lib/route.js";
import { inputsText, runMs, runName, runWord, shortId } from "../../lib/run-words.js";
import { visibleText } from "../../lib/visible-text.js";
import { useBoard } from "../../stores/board.js";
import { Chip } from "../chip.js";
import { Notice } from "../notice.js";
import { State } from "../state.js";

/** The two runs, and the differences between their figures. */
export function CompareHead({ found }: { readonly found: CompareBody }): JSX.Element {
  const { clock } = useBoard();
  const { a, b, counts } = found;
  const nowMs = clock.now();
  const figures = (run: RunSummary): Parameters<typeof figureRows>[0] => ({
    ...run.totals,
    durationMs: runMs(run, nowMs),
  });
  const rows = figureRows(figures(a), figures(b), [a.totals.currency, b.totals.currency]);
  return (
    <div class="run-head compare-head">
      <div class="row wrap sides">
        <Side letter="A" run={a} />
        <Side letter="B" run={b} />
        <span class="grow" />
        <BaselineButton run={b} />
      </div>
      <div class="row wrap deltas">
        {rows.map(({ name, a: before, b: after, change, isMore }) => (
          <div key={name} class="card delta">
            <span class="muted">{name}</span>
            <div class="row">
              <span>{before}</span> → <b>{after}</b>
              {change !== "" && <Chip kind={isMore ? "waiting" : "done"}>{change}</Chip>}
            </div>
          </div>
        ))}
        <div class="card delta">
          <span class="muted">tasks</span>
          <b>{countsText(counts)}</b>
        </div>
      </div>
    </div>
  );
}

interface SideProps {
  readonly letter: "A" | "B";
  readonly run: RunSummary;
}

function Side({ letter, run }: SideProps): JSX.Element {
  const inputs = inputsText(run.inputs);
  return (
    <div class="row side">
      <b class={letter === "A" ? "letter" : "letter b"}>{letter}</b>
      <div class="clip">
        <a class="link" href={hrefOf(["runs", run.runId])}>
          <b>{runName(run)}</b>
        </a>{" "}
        <code class="faint">{visibleText(shortId(run))}</code>{" "}
        {run.baseline === true && <Chip kind="line">baseline</Chip>}
        <div class="muted clip" title={inputs}>
          <State state={run.state} word={runWord(run)} isIcon />{" "}
          {[formatTime(run.startedAt), inputs].filter((text) => text !== "").join(" · ")}
        </div>
      </div>
    </div>
  );
}

/** Makes a run the baseline of its ensemble, or removes the mark. */
function BaselineButton({ run }: { readonly run: RunSummary }): JSX.Element | null {
  const { api, session } = useBoard();
  const [isBaseline, setBaseline] = useState(run.baseline === true);
  const [error, setError] = useState<ApiError>();
  if (!session.may("operator")) return null;
  const change = (): void => {
    const path = `/api/runs/${encodeURIComponent(run.runId)}/baseline`;
    api.send<undefined>(isBaseline ? "DELETE" : "PUT", path).then(
      () => {
        setBaseline(!isBaseline);
        setError(undefined);
      },
      (reason: unknown) => {
        if (!(reason instanceof ApiError)) throw reason;
        setError(reason);
      },
    );
  };
  return (
    <>
      {error !== undefined && <Notice kind="failed">{errorWords(error)}</Notice>}
      <button type="button" class="btn" onClick={change}>
        {isBaseline ? "B is the baseline: end that" : "Make B the baseline"}
      </button>
    </>
  );
}
