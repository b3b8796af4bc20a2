import type { OpenRun } from "../stores/open-run-store.js";

/**
 * The properties of each view of a run. The state in `run.view` changes in place. Each frame has a
 * new `run`.
 */
export interface RunViewProps {
  readonly run: OpenRun;
  /** The task of the address, shown in the inspector. */
  readonly taskId: string | undefined;
  /**
   * Opens a task in the inspector. `undefined` closes the inspector. `call`: the model call to
   * show, from 1.
   */
  readonly onTask: (taskId: string | undefined, call?: number) => void;
}
