import { useState } from "preact/hooks";
import type {
  RunAction,
  RunActionsBody,
} from "../../../src/plugins/dashboard/protocol/http-bodies.js";
import { useBoard } from "../stores/board.js";
import type { OpenRun } from "../stores/open-run-store.js";
import { useFetched, type Fetched } from "./use-fetched.js";

/** The actions that the user may perform on a run in its current state. */
export interface RunActions {
  readonly state: Fetched<RunActionsBody>;
  /** Returns whether the action is permitted. False until the answer has arrived. */
  readonly may: (action: RunAction) => boolean;
  /** Requests the actions again, after an action was performed. */
  readonly reload: () => void;
}

/**
 * Requests the permitted actions on a run. Repeats the request when the state of the run changes.
 * Sends no request for a saved run.
 */
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
