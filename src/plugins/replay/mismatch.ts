import type { ToolCallContext } from "../../contracts/hooks.js";
import type { OutsideCall } from "../../contracts/outside.js";
import type { HookRun } from "../../contracts/run.js";
import type { UnknownRequest } from "./difference.js";
import type { RecordedCall, RecordedTool, Recording } from "./recording.js";
import type { StepEvent } from "./step-order.js";
import { ValidationError } from "../../contracts/errors.js";
import { RecordingMismatchError } from "../../contracts/state-errors.js";
import { preview } from "../../contracts/validation.js";
import { conversationDifference, differenceOf, nearestCall } from "./difference.js";

const HINT =
  'Record it again with recordTo(file), or replay with onMiss: "live" (in the command line --record and --on-miss live).';

/**
 * Returns the error for a request to a model that is not in the recording. `asked` is its recorded
 * form. `difference` is a difference that is already known.
 */
export function unknownCall(
  recording: Recording,
  asked: UnknownRequest,
  run: HookRun,
  difference?: string,
): RecordingMismatchError {
  const { task, iteration, provider, modelId } = asked;
  const what = `Call ${iteration + 1} of task '${task}' to ${provider}:${modelId} is not in ${recording.source}.`;
  const nearest = nearestCall(recording.allCalls, asked);
  return new RecordingMismatchError(
    run.redact(`${what} ${difference ?? explanation(nearest, asked, recording)}`),
    { hint: HINT },
  );
}

function explanation(
  nearest: RecordedCall | undefined,
  asked: UnknownRequest,
  recording: Recording,
): string {
  if (nearest === undefined) return "It contains no model calls.";
  const place = `call ${nearest.iteration + 1} of task '${nearest.task}'`;
  const isTrace = recording.kind === "trace"; // a trace has only the words of a request
  const difference = isTrace
    ? conversationDifference(nearest.messages ?? [], asked.request.messages)
    : differenceOf(nearest, asked);
  if (difference !== undefined) return `The nearest one, ${place}, differs in ${difference}`;
  if (isTrace && nearest.task !== asked.task)
    return `The nearest one is ${place}, and a trace finds calls by their task.`;
  return `What was recorded for it (${place}) has been given back already: this run asks more often.`;
}

/** Returns the error for a tool call that is not in the recording. */
export function unknownTool(
  recording: Recording,
  { run, tool, call, taskId }: ToolCallContext,
): RecordingMismatchError {
  const what = `Tool call ${tool.name}(${preview(call.arguments)}) of task '${taskId}' is not in ${recording.source}.`;
  const same = recording.allTools.filter((recorded) => recorded.tool === tool.name);
  const nearest = same.find((recorded) => recorded.task === taskId) ?? same[0];
  const known =
    nearest === undefined
      ? "It contains no call of that tool."
      : `The nearest one: ${tool.name}(${preview(nearest.arguments)}) of task '${nearest.task}'.`;
  return new RecordingMismatchError(run.redact(`${what} ${known}`), { hint: HINT });
}

/** Returns the error for an external query that is not in the recording. */
export function unknownOutside(
  recording: Recording,
  { kind, name, taskId }: Pick<OutsideCall, "kind" | "name" | "taskId">,
): RecordingMismatchError {
  const what = kind === "review" ? "The decision" : "What was read";
  const place = taskId === undefined ? "" : ` of task '${taskId}'`;
  return new RecordingMismatchError(
    `${what}${place} (${name}) is not in ${recording.source}: this run asks for more.`,
    { hint: HINT },
  );
}

/** Returns the error for a recorded step that never occurs while other steps wait for it. */
export function missingStep(
  recording: Recording,
  { key, phase }: StepEvent,
): RecordingMismatchError {
  const what = phase === "start" ? "did not start" : "did not end";
  return new RecordingMismatchError(
    `Step ${stepText(key)} of ${recording.source} ${what} in this run, and the steps recorded after it wait for it.`,
    { hint: HINT },
  );
}

const KINDS: Readonly<Record<string, string>> = {
  T: "task",
  C: "model call",
  K: "tool call",
  D: "delegation",
  W: "write to memory",
  O: "question",
};

/** Returns a key in its shown form, without the id of the run. */
function stepText(key: string): string {
  const [, kind = "", name = key] = /\/([TCKDWO]):(.*)$/s.exec(key) ?? [];
  return `${KINDS[kind] ?? "step"} '${name}'`;
}

/** Returns the error for a call that has no end in the recording and ends now. */
export function neverEnded(recording: Recording, what: string): RecordingMismatchError {
  return new RecordingMismatchError(
    `${what} was called off in ${recording.source}, and now is not.`,
    { hint: HINT },
  );
}

/** Returns the error for a model that another plugin selected after this plugin. */
export function replacedModel(plugin: string): ValidationError {
  return new ValidationError(
    `Another plugin changes the model of a call after ${plugin} has seen it`,
    {
      hint: `Put ${plugin} at the end of the list of plugins.`,
    },
  );
}

/** Returns the error for a run with fewer steps than recorded. */
export function unused(
  recording: Recording,
  left: readonly (RecordedCall | RecordedTool)[],
): string {
  const shown = left
    .slice(0, 5)
    .map((entry) =>
      "tool" in entry
        ? `tool ${entry.tool} of task '${entry.task}'`
        : `call ${entry.iteration + 1} of task '${entry.task}'`,
    );
  const more = left.length > shown.length ? ` and ${left.length - shown.length} more` : "";
  return `${left.length} recorded call(s) of ${recording.source} were not requested: ${shown.join(", ")}${more}.`;
}
