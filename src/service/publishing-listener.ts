import type { EnsembleEvent, EnsembleListener } from "../contracts/events.js";
import type { Fields } from "../util/objects.js";

/** Limit of the characters of a name in a message. A message has at most 4 KiB. */
const MOST_NAME = 200;
const TASK = ["taskIndex", "totalTasks", "attempt"] as const;

/**
 * The fields of an event that callers receive: names and numbers, because texts may be
 * confidential.
 */
const FIELDS = {
  onTaskStart: TASK,
  onTaskComplete: [...TASK, "durationMs", "tokenCount", "toolCallCount"],
  onTaskFailed: [...TASK, "durationMs"],
  onToolCall: ["toolName", "outcome", "durationMs"],
  onDelegationStarted: ["delegatingAgentRole", "workerRole", "workerTaskId"],
  onLoopIterationCompleted: ["loopName", "iterationNumber", "maxIterations"],
  onGraphStateCompleted: ["graphName", "stateName", "stepNumber", "nextState"],
} as const satisfies Partial<Record<keyof EnsembleListener, readonly string[]>>;
const OF_ALL = ["type", "taskId", "parentTaskId", "agentRole"] as const;

/**
 * Publishes the events of a run for its caller. Has one callback per event type: with a listener to
 * all events, the run would emit more events.
 */
export function publishingListener(publish: (message: Fields) => void): EnsembleListener {
  const callbacks = Object.entries(FIELDS).map(([name, fields]) => [
    name,
    (event: EnsembleEvent) => publish(publishedFields(event, fields)),
  ]);
  return Object.fromEntries(callbacks) as EnsembleListener; // the keys of FIELDS
}

function publishedFields(event: EnsembleEvent, names: readonly string[]): Fields {
  const message: Record<string, unknown> = {};
  for (const name of [...OF_ALL, ...names]) {
    const value: unknown = (event as unknown as Fields)[name]; // absent in some events
    if (value !== undefined)
      message[name] = typeof value === "string" ? value.slice(0, MOST_NAME) : value;
  }
  return message;
}
