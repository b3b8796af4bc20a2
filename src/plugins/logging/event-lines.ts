import type { EnsembleEvent, Ev, EventType } from "../../contracts/events.js";
import type { Redactor } from "../../contracts/redaction.js";
import type { LogLevel } from "./log-sink.js";
import type { RunState } from "./run-state.js";

import { printableLine, printableText } from "../../util/printable.js";

/** A line, which is written only if its level is enabled. */
export interface LogLine {
  readonly level: LogLevel;
  readonly text: () => string;
}

const DESCRIPTION_LENGTH = 80;
const PREVIEW_LENGTH = 200;
const REASON_LENGTH = 500;

const error = (text: () => string): LogLine => ({ level: "error", text });
const warn = (text: () => string): LogLine => ({ level: "warn", text });
const info = (text: () => string): LogLine => ({ level: "info", text });
const debug = (text: () => string): LogLine => ({ level: "debug", text });
const silly = (text: () => string): LogLine => ({ level: "silly", text });

const duration = (ms: number): string => `${Math.round(ms)}ms`;
const described = (text: string): string => printableLine(text, DESCRIPTION_LENGTH);
const reason = (text: string): string => printableLine(text, REASON_LENGTH);

/**
 * Returns `Task 1/3`, or the id of a task without a number. Tasks that are added during the run
 * have no number.
 */
function place({
  taskId,
  taskIndex,
  totalTasks,
}: {
  readonly taskId: string;
  readonly taskIndex: number;
  readonly totalTasks: number;
}): string {
  return `Task ${taskIndex > 0 ? `${taskIndex}/${totalTasks}` : printableLine(taskId)}`;
}

/** The lines of each logged event. */
const LINES: {
  readonly [K in EnsembleEvent["type"]]?: (
    e: Ev<K>,
    run: RunState,
    redactor: Redactor,
  ) => readonly LogLine[];
} = {
  ensemble_started: (e) => [
    info(
      () =>
        `Ensemble run started | Workflow: ${printableLine(e.workflow)} | Tasks: ${e.totalTasks}`,
    ),
  ],
  ensemble_completed: (e) => [
    (e.exitReason === "COMPLETED" ? info : warn)(() => {
      const totals = `Tool calls: ${e.totalToolCalls} | Tokens: ${e.totalTokens}`;
      return `Ensemble run ended | Exit reason: ${e.exitReason} | Duration: ${duration(e.totalDurationMs)} | ${totals}`;
    }),
  ],
  run_failed: (e) => [
    error(() => `Ensemble run failed | ${printableLine(e.code)} | ${reason(e.message)}`),
  ],
  run_warning: (e) => [warn(() => reason(e.message))],
  task_started: (e) => [
    info(
      () =>
        `${place(e)} starting | Description: ${described(e.taskDescription)} | Agent: ${printableLine(e.agentRole)}`,
    ),
    debug(() => `${place(e)} context: ${e.contextTaskIds.length} prior outputs`),
  ],
  task_completed: (e, run, redactor) => [
    info(
      () =>
        `${place(e)} completed | Duration: ${duration(e.durationMs)} | Tool calls: ${e.toolCallCount}`,
    ),
    ...(run.isVerbose(e.taskId)
      ? [
          info(
            () =>
              `${place(e)} output preview: ${printableLine(redactor.redactText(e.taskOutput.raw), PREVIEW_LENGTH)}`,
          ),
        ]
      : []),
  ],
  task_failed: (e) => [
    (isStopLine(e.cause.code) ? warn : error)(
      () =>
        `${place(e)} failed | Duration: ${duration(e.durationMs)} | Reason: ${reason(e.reason)}`,
    ),
  ],
  task_input: (e, run) =>
    run.isVerbose(e.taskId)
      ? [
          info(() => `System prompt:\n${printableText(e.systemPrompt)}`),
          info(() => `User prompt:\n${printableText(e.userPrompt)}`),
        ]
      : [
          debug(
            () =>
              `System prompt (${e.systemPrompt.length} chars):\n${printableText(e.systemPrompt)}`,
          ),
          debug(
            () => `User prompt (${e.userPrompt.length} chars):\n${printableText(e.userPrompt)}`,
          ),
        ],
  llm_iteration_completed: (e, run) => [
    debug(() => {
      const tokens = `${e.inputTokens} in, ${e.outputTokens} out`;
      return `[${printableLine(e.agentRole)}] Model call ${e.iteration + 1} completed | ${e.responseType} | Duration: ${duration(e.durationMs)} | Tokens: ${tokens}`;
    }),
    ...(e.responseType === "FINAL_ANSWER"
      ? answerLines(e.responseText, run.isVerbose(e.taskId))
      : []),
    ...(e.iteration === 0 && e.responseType === "FINAL_ANSWER" && run.isToolless(e.taskId)
      ? [debug(() => `Agent '${printableLine(e.agentRole)}' completed (no tools)`)]
      : []),
  ],
  tool_called: (e, run) => [
    (e.outcome === "SUCCESS" ? info : warn)(() => toolText(e, run.toolLogTruncateLength)),
  ],
  retry_scheduled: (e) => [
    warn(
      () =>
        `[${printableLine(e.agentRole)}] Model call failed (attempt ${e.attempt}), trying again in ${duration(e.delayMs)} | Reason: ${reason(e.reason)}`,
    ),
  ],
  rate_limited: (e) => [
    info(
      () =>
        `[${printableLine(e.agentRole)}] Model call waits ${duration(e.waitMs)} for its rate limit (${e.requests} per ${duration(e.periodMs)})`,
    ),
  ],
  delegation_started: (e) => [
    info(
      () =>
        `[${printableLine(e.delegatingAgentRole)}] Delegating to '${printableLine(e.workerRole)}': ${described(e.taskDescription)}`,
    ),
  ],
  delegation_completed: (e) => [
    info(
      () =>
        `[${printableLine(e.delegatingAgentRole)}] Delegation to '${printableLine(e.workerRole)}' completed | Duration: ${duration(e.durationMs)}`,
    ),
  ],
  delegation_failed: (e) => [
    warn(
      () =>
        `[${printableLine(e.delegatingAgentRole)}] Delegation to '${printableLine(e.workerRole)}' failed | Reason: ${reason(e.reason)}`,
    ),
  ],
  memory_written: (e) => [
    debug(
      () => `[${printableLine(e.agentRole)}] Memory written | Scope: ${printableLine(e.scope)}`,
    ),
  ],
  phase_started: (e) => [
    info(() => `Phase '${printableLine(e.phaseName)}' starting | Attempt: ${e.attempt}`),
  ],
  phase_completed: (e) => [
    info(
      () =>
        `Phase '${printableLine(e.phaseName)}' completed | Attempt: ${e.attempt} | Duration: ${duration(e.durationMs)}`,
    ),
  ],
  loop_iteration_completed: (e) => [
    info(
      () =>
        `Loop '${printableLine(e.loopName)}' iteration ${e.iterationNumber}/${e.maxIterations} completed`,
    ),
  ],
  graph_state_completed: (e) => [
    info(
      () =>
        `Graph '${printableLine(e.graphName)}' step ${e.stepNumber} completed | State: ${printableLine(e.stateName)} | Next: ${printableLine(e.nextState)}`,
    ),
  ],
};

/** The events that are logged. */
export const LOGGED = Object.keys(LINES) as readonly EventType[]; // the keys of the table

function isStopLine(code: string): boolean {
  return code === "AE_RUN_CANCELLED" || code === "AE_EXIT_EARLY";
}

function answerLines(text: string, verbose: boolean): readonly LogLine[] {
  if (verbose) return [info(() => `Agent response:\n${printableText(text)}`)];
  return [
    debug(() => `Agent response (${text.length} chars): ${printableLine(text, PREVIEW_LENGTH)}`),
    silly(() => `Full agent response:\n${printableText(text)}`),
  ];
}

/**
 * Returns the text of a tool call. A `limit` of -1 shows arguments and result completely, 0 omits
 * them.
 */
function toolText(e: Ev<"tool_called">, limit: number): string {
  const cut = limit < 0 ? undefined : limit;
  const shown = (text: string): string => (limit === 0 ? "" : printableLine(text, cut));
  const call = `${printableLine(e.toolName)}(${shown(e.toolArguments)}) -> ${shown(e.toolResult)}`;
  return e.outcome === "SUCCESS"
    ? `[${printableLine(e.agentRole)}] Tool call: ${call} [${duration(e.durationMs)}]`
    : `[${printableLine(e.agentRole)}] Tool error: ${call}`;
}

/** Returns the log lines of an event. */
export function logLinesOf(
  e: EnsembleEvent,
  run: RunState,
  redactor: Redactor,
): readonly LogLine[] {
  const lines = LINES[e.type] as
    // Each function receives the event of its name.
    ((event: EnsembleEvent, state: RunState, of: Redactor) => readonly LogLine[]) | undefined;
  return lines?.(e, run, redactor) ?? [];
}
