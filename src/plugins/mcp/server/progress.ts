import type { EnsembleListener } from "../../../contracts/events.js";
import { counted } from "../../../util/text.js";

/** Content of a progress notification: the number of steps so far and the last step. */
export interface ProgressStep {
  readonly progress: number;
  readonly message: string;
}

/**
 * Returns a listener that reports each step of a run. The number of steps is unknown in advance, so
 * there is no total.
 */
export function progressListener(report: (step: ProgressStep) => void): EnsembleListener {
  let progress = 0;
  const step = (message: string): void => report({ progress: ++progress, message });
  return {
    onTaskStart: ({ taskId, agentRole }) => step(`Task '${taskId}' started by ${agentRole}`),
    onTaskComplete: ({ taskId, toolCallCount, tokenCount }) =>
      step(
        `Task '${taskId}' completed: ${counted(toolCallCount, "tool call")}${tokens(tokenCount)}`,
      ),
    onTaskFailed: ({ taskId }) => step(`Task '${taskId}' failed`),
    onToolCall: ({ toolName, outcome, durationMs }) =>
      step(
        `Tool '${toolName}' ${outcome === "SUCCESS" ? "answered" : "failed"} after ${Math.round(durationMs)} ms`,
      ),
    onDelegationStarted: ({ delegatingAgentRole, workerRole }) =>
      step(`${delegatingAgentRole} delegated to ${workerRole}`),
  };
}

function tokens(count: number): string {
  return count < 0 ? "" : `, ${counted(count, "token")}`; // -1: not reported
}
