import type { RestoredCall, TaskCall } from "../../../contracts/hooks.js";
import { createToken } from "../../../contracts/token.js";

/** The result of a task in another process. */
export interface GivenTask {
  readonly raw: string;
  readonly parsed?: unknown;
  readonly toolCallCount: number;
  readonly agentRole?: string | undefined;
  readonly calls: readonly RestoredCall[];
}

/** Passes tasks of a run to other processes. Bound for one run, by the service that executes it. */
export interface TaskSpreader {
  /**
   * Passes the task to another process; returns `undefined` if this process executes it. Rejects
   * with the failure of the task, or with the reason of its signal.
   */
  take(call: TaskCall): Promise<GivenTask> | undefined;
}

export const TASK_SPREADER = createToken<TaskSpreader>("TaskSpreader");
