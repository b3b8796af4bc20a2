import type { EnsembleEvent, EventType } from "../contracts/events.js";
import type { Fields } from "../util/objects.js";
import { redactorOf } from "../contracts/redaction.js";

/** Characters of a name in a message: a message has at most 4 KiB. */
const MOST_NAME = 200;
const TASK = ["taskIndex", "totalTasks", "attempt"] as const;

/** The events that callers receive, with their fields besides `type`, `taskId`, `agentRole`: names and numbers, since texts may be confidential. */
const PUBLISHED: Readonly<Partial<Record<EventType, readonly string[]>>> = {
  run_resumed: ["execution", "finishedTasks"],
  task_started: TASK,
  task_completed: [...TASK, "durationMs", "tokenCount", "toolCallCount"],
  task_failed: [...TASK, "durationMs"],
  tool_called: ["toolName", "durationMs", "outcome"],
  delegation_started: ["workerTaskId", "delegatingAgentRole", "workerRole"],
  retry_scheduled: ["attempt", "delayMs"],
  rate_limited: ["waitMs"],
  phase_started: ["phaseName", "attempt"],
  phase_completed: ["phaseName", "attempt", "durationMs"],
  loop_iteration_completed: ["loopName", "iterationNumber", "maxIterations"],
  graph_state_completed: ["graphName", "stateName", "stepNumber", "nextState"],
};
const OF_ALL = ["type", "taskId", "parentTaskId", "agentRole"] as const;

/** What a caller receives of an event of its run; `undefined` for events that stay in the process. */
export function publishedEvent(event: EnsembleEvent): Fields | undefined {
  const names = PUBLISHED[event.type];
  if (names === undefined) return undefined;
  const redactor = redactorOf(event);
  const shown = (value: unknown): unknown =>
    typeof value === "string" ? (redactor?.redactText(value) ?? value).slice(0, MOST_NAME) : value;
  const fields: Fields = { ...event };
  return Object.fromEntries(
    [...OF_ALL, ...names].flatMap((name) =>
      fields[name] === undefined ? [] : [[name, shown(fields[name])]],
    ),
  );
}
