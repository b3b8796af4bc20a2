import type { RestoredCall, TaskCall } from "../../../contracts/hooks.js";
import { createToken } from "../../../contracts/token.js";

/** What another process has made of a task. */
export interface GivenTask {
  readonly raw: string;
  readonly parsed?: unknown;
  readonly toolCallCount: number;
  readonly agentRole?: string | undefined;
  readonly calls: readonly RestoredCall[];
}

/** Gives tasks of a run to other processes. Bound for one run, by the service that executes it. */
export interface TaskSpreader {
  /** Gives the task away; `undefined` where the run does it itself. Rejects with the failure of the task, or with the reason of its signal. */
  take(call: TaskCall): Promise<GivenTask> | undefined;
}

export const TASK_SPREADER = createToken<TaskSpreader>("TaskSpreader");
