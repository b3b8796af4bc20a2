import type { JSX } from "preact";
import type { RunAcceptedBody } from "../../../../src/plugins/dashboard/protocol/control-bodies.js";
import type { RunListBody } from "../../../../src/plugins/dashboard/protocol/http-bodies.js";
import { useAction } from "../../hooks/use-action.js";
import { useFetched } from "../../hooks/use-fetched.js";
import { errorWords } from "../../lib/api-words.js";
import { hrefOf } from "../../lib/route.js";
import { runsPath } from "../../lib/run-search.js";
import { visibleText } from "../../lib/visible-text.js";
import { useBoard } from "../../stores/board.js";
import type { OpenRun } from "../../stores/open-run-store.js";
import { Icon } from "../icon.js";
import { Notice } from "../notice.js";

/** Starts the run again with the same inputs, and opens the new run. */
export function AgainButton({ run }: { readonly run: OpenRun }): JSX.Element {
  const { api, route } = useBoard();
  const action = useAction();
  const again = async (): Promise<void> => {
    const path = `/api/runs/${encodeURIComponent(run.runId)}/again`;
    const { runId } = await api.send<RunAcceptedBody>("POST", path, {});
    route.go(hrefOf(["runs", runId]));
  };
  return (
    <>
      <button
        type="button"
        class="btn"
        aria-label="Run again"
        title="Run again with the same inputs"
        disabled={action.isBusy}
        onClick={() => action.run(again)}
      >
        <Icon name="again" />
        <span class="hide-s">Run again</span>
      </button>
      {action.error !== undefined && (
        <div class="popover">
          <Notice kind="failed" isUrgent>
            {visibleText(errorWords(action.error))}
          </Notice>
        </div>
      )}
    </>
  );
}

/** Compares a failed run with the last completed run of its ensemble, if there is one. */
export function LastGoodLink({ run }: { readonly run: OpenRun }): JSX.Element | null {
  const { ensemble } = run.view.summary;
  const found = useFetched<RunListBody>([runsPath({ ensemble, state: "done" }, 1)]);
  const [good] = found.kind === "ready" ? found.bodies.flatMap((body) => body.runs) : [];
  if (good === undefined) return null;
  const label = "Compare with the last good run";
  return (
    <a
      class="btn hide-s"
      title={label}
      aria-label={label}
      href={hrefOf(["compare"], { a: good.runId, b: run.runId })}
    >
      <Icon name="compare" />
      Compare
    </a>
  );
}
