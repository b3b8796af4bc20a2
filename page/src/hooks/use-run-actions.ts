import { useState } from "preact/hooks";
import type {
  RunAction,
  RunActionsBody,
} from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { useBoard } from "../stores/board.js";
import type { OpenRun } from "../stores/open-run-store.js";
import { useFetched, type Fetched } from "./use-fetched.js";

/** What this person may do with a run as it is now. */
export interface RunActions {
  readonly state: Fetched<RunActionsBody>;
  /** False until the answer is there. */
  readonly may: (action: RunAction) => boolean;
  /** Asks again, after something was done. */
  readonly reload: () => void;
}

/** Asks what may be done with a run, again whenever its state changes. A saved run has no program to ask. */
export function useRunActions({ runId, view }: OpenRun): RunActions {
  const { env } = useBoard();
  const [version, setVersion] = useState(0);
  const paths = env.isSaved === true ? [] : [`/api/runs/${encodeURIComponent(runId)}/actions`];
  const state = useFetched<RunActionsBody>(paths, `${view.summary.state} ${version}`);
  const actions = state.kind === "ready" ? state.bodies[0]?.actions : undefined;
  return {
    state,
    may: (action) => actions?.includes(action) === true,
    reload: () => setVersion(version + 1),
  };
}
