import type { TaskState } from "../../../src/plugins/dashboard/protocol/state-types.js";
import { formatCost, formatCount, formatDuration } from "./format.js";
import { visibleText } from "./visible-text.js";

/** Ids that the framework gives to tasks without a name. */
const NAMELESS = /(?:^|\/)task-\d+(?:\.\d+)*$|\.\d+$/;

/** The end of a state machine. */
const GRAPH_END = "__END__";

/**
 * Returns the title of a task in one line: its name, otherwise its description. Omits the name of
 * its phase, loop or state machine.
 */
export function taskTitle({ id, description }: Pick<TaskState, "id" | "description">): string {
  if (id === GRAPH_END) return "end";
  if (NAMELESS.test(id) && description !== "") return visibleText(description);
  return visibleText(id.slice(id.lastIndexOf("/") + 1).replace(/^\$loop:/, "loop "));
}

/** Returns `gpt-4.1-mini` for `openai:gpt-4.1-mini`. */
export function shortModel(model: string): string {
  return visibleText(model.slice(model.indexOf(":") + 1));
}

const ROLES: Readonly<Record<string, string>> = {
  "(deterministic)": "plain code",
  "(synthesized)": "agent made for the task",
  "(assigned)": "the manager chooses",
  "(loop)": "loop",
  "(end)": "end",
};

/** Returns role and model in one text. */
export function taskWorker({ role, model }: Pick<TaskState, "role" | "model">): string {
  const name = ROLES[role] ?? visibleText(role);
  return model === undefined ? name : `${name} · ${shortModel(model)}`;
}

/**
 * Returns the duration of a task, up to the present if it is in progress. Returns `undefined`
 * before its start.
 */
export function taskMs(
  { startMs, endMs }: Pick<TaskState, "startMs" | "endMs">,
  nowMs: number,
): number | undefined {
  return startMs === undefined ? undefined : Math.max(0, (endMs ?? nowMs) - startMs);
}

/**
 * Formats time, tokens and cost of a task that has begun. Omits figures that are 0. Shows calls
 * without usage as unknown.
 */
export function taskFigures(task: TaskState, nowMs: number, currency: string | undefined): string {
  const ms = taskMs(task, nowMs);
  const tokens = task.inputTokens + task.outputTokens;
  return [
    ms === undefined ? undefined : formatDuration(ms),
    tokens > 0 || task.unknownCalls > 0 ? tokensText(tokens, task.unknownCalls) : undefined,
    task.cost > 0 ? formatCost(task.cost, currency) : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(" · ");
}

/** Formats tokens: `8.4 k`, `8.4 k + 2 unknown`, `unknown`. */
export function tokensText(tokens: number, unknownCalls: number): string {
  if (unknownCalls === 0) return formatCount(tokens);
  return tokens === 0 ? "unknown tokens" : `${formatCount(tokens)} + ${unknownCalls} unknown`;
}
