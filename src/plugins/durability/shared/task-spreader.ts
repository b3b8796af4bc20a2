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

/**
 * Passes tasks of a run to other processes. The service that executes a run binds it for the run.
 */
export interface TaskSpreader {
  /**
   * Passes the task to another process. Returns `undefined` if this process executes the task.
   * Rejects with the failure of the task, or with the reason of its signal.
   */
  take(call: TaskCall): Promise<GivenTask> | undefined;
}

export const TASK_SPREADER = createToken<TaskSpreader>("TaskSpreader");
