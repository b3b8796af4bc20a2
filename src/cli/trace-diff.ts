import type { SpentInTrace, TaskView, TraceView } from "./trace-view.js";
import { canonicalJson } from "../util/json/canonical.js";
import { asFields } from "../util/objects.js";

/** The usage and the duration of one run. */
export interface RunMeasures extends SpentInTrace {
  readonly durationMs: number;
}

/**
 * The comparison of a task in two runs. Each field contains the first difference: `difference`
 * lines of the outputs, `tools` tool calls or delegations, `prompts` lines of the prompts. `models`
 * contains the called models.
 */
export interface TaskDifference {
  readonly taskId: string;
  readonly attempt: number;
  readonly status: "same" | "changed" | "added" | "removed";
  readonly outcome: readonly [string | null, string | null];
  readonly measures: readonly [RunMeasures | null, RunMeasures | null];
  readonly difference: readonly [string, string] | null;
  readonly tools: readonly [string, string] | null;
  readonly prompts: readonly [string, string] | null;
  readonly models: readonly [string, string] | null;
}

/** An input that differs between two runs. `null` if a run has no input with this name. */
export interface InputDifference {
  readonly name: string;
  readonly values: readonly [string | null, string | null];
}

/** The comparison of two runs. Times, tokens and costs do not count as differences. */
export interface TraceDifference {
  readonly different: boolean;
  /** The first difference: `input 'topic'`, `task 'ask': prompt`. `null` for equal runs. */
  readonly first: string | null;
  readonly runs: readonly [string, string];
  readonly exitReasons: readonly [string, string];
  readonly inputs: readonly InputDifference[];
  readonly totals: readonly [RunMeasures, RunMeasures];
  readonly tasks: readonly TaskDifference[];
}

/**
 * Returns tasks by id and attempt. The key of a task repeated by a loop contains the number of the
 * repetition.
 */
function keyed(tasks: readonly TaskView[]): ReadonlyMap<string, TaskView> {
  const byKey = new Map<string, TaskView>();
  const times = new Map<string, number>();
  for (const task of tasks) {
    const base = JSON.stringify([task.taskId, task.attempt]);
    const n = (times.get(base) ?? 0) + 1;
    times.set(base, n);
    byKey.set(`${base}#${n}`, task);
  }
  return byKey;
}

function measuresOf({ inputTokens, outputTokens, cost, durationMs }: RunMeasures): RunMeasures {
  return { inputTokens, outputTokens, cost, durationMs };
}

/** Returns the first lines that differ. If one text has ended, its line is empty. */
function firstDifference(a: string, b: string): readonly [string, string] | null {
  if (a === b) return null;
  const [left, right] = [a.split("\n"), b.split("\n")];
  const at = left.findIndex((line, i) => line !== right[i]);
  const line = at < 0 ? left.length : at;
  return [left[line] ?? "", right[line] ?? ""];
}

/** Returns the inputs and results of the tools and workers of a task, in order. */
function actionsOf(task: TaskView): readonly string[] {
  const tools = [...task.calls.flatMap((call) => call.tools), ...task.tools].map(
    (tool) => `${tool.tool}(${tool.arguments}) ${tool.outcome}: ${tool.result}`,
  );
  const delegations = task.delegations.flatMap(({ mode, to, description, result, worker }) => [
    ...(worker === null ? [] : actionsOf(worker)),
    `${mode === "handoff" ? "transfer" : "delegation"} to ${to} (${description}): ${result}`,
  ]);
  return [...tools, ...delegations];
}

/** Returns the first steps that differ. If a task has no further step, its text is empty. */
function firstAction(a: TaskView, b: TaskView): readonly [string, string] | null {
  const [left, right] = [actionsOf(a), actionsOf(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++)
    if (left[i] !== right[i]) return [left[i] ?? "", right[i] ?? ""];
  return null;
}

/** Returns the inputs of two runs that differ, by name. */
function inputDifferences(a: TraceView, b: TraceView): readonly InputDifference[] {
  const texts = ({ inputs }: TraceView): ReadonlyMap<string, string> =>
    new Map(Object.entries(asFields(inputs) ?? {}).map(([k, v]) => [k, canonicalJson(v)]));
  const [left, right] = [texts(a), texts(b)];
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((name) => left.get(name) !== right.get(name))
    .map((name) => ({ name, values: [left.get(name) ?? null, right.get(name) ?? null] }));
}

/**
 * Returns the first lines of two prompts that differ. A trace without prompts has the description.
 */
function firstPromptLine(a: TaskView, b: TaskView): readonly [string, string] | null {
  const both = a.prompts !== null && b.prompts !== null;
  const text = ({ prompts, description }: TaskView): string =>
    both && prompts !== null ? `${prompts.system}\n${prompts.user}` : description;
  return firstDifference(text(a), text(b));
}

/** Returns the models that answered, each once. */
function modelsOf({ calls }: TaskView): string {
  return [...new Set(calls.map(({ model }) => model))].join(", ");
}

/** Returns the first part of a task that differs, in the order of execution. */
function firstPart(task: TaskDifference): string | undefined {
  const { status, prompts, models, tools, outcome } = task;
  if (status === "same") return undefined;
  if (status !== "changed") return status;
  if (prompts !== null) return "prompt";
  if (models !== null) return "model";
  if (tools !== null) return "tool call";
  return outcome[0] === outcome[1] ? "output" : "outcome";
}

/** Returns the first difference of two runs. Inputs precede tasks. */
function firstOf(
  inputs: readonly InputDifference[],
  tasks: readonly TaskDifference[],
): string | null {
  const [input] = inputs;
  if (input !== undefined) return `input '${input.name}'`;
  for (const task of tasks) {
    const part = firstPart(task);
    if (part !== undefined) return `task '${task.taskId}': ${part}`;
  }
  return null;
}

function compare(a: TaskView, b: TaskView): TaskDifference {
  const difference = firstDifference(a.output ?? "", b.output ?? "");
  const tools = firstAction(a, b);
  const prompts = firstPromptLine(a, b);
  const models = firstDifference(modelsOf(a), modelsOf(b));
  const found = [difference, tools, prompts, models];
  const same = found.every((pair) => pair === null) && a.outcome === b.outcome;
  return {
    taskId: a.taskId,
    attempt: a.attempt,
    status: same ? "same" : "changed",
    outcome: [a.outcome, b.outcome],
    measures: [measuresOf(a), measuresOf(b)],
    difference,
    tools,
    prompts,
    models,
  };
}

/** Returns the comparison of a task that only one of the runs has. */
function unmatched(task: TaskView, status: "added" | "removed"): TaskDifference {
  const { taskId, attempt, outcome } = task;
  const measures = measuresOf(task);
  return {
    taskId,
    attempt,
    status,
    outcome: status === "added" ? [null, outcome] : [outcome, null],
    measures: status === "added" ? [null, measures] : [measures, null],
    difference: null,
    tools: null,
    prompts: null,
    models: null,
  };
}

/**
 * Compares two runs task by task, in the order of the first run. Tasks that only the second run has
 * are last.
 */
export function compareTraces(a: TraceView, b: TraceView): TraceDifference {
  const [left, right] = [keyed(a.tasks), keyed(b.tasks)];
  const ofLeft = [...left].map(([key, task]) => {
    const other = right.get(key);
    return other === undefined ? unmatched(task, "removed") : compare(task, other);
  });
  const added = [...right].filter(([key]) => !left.has(key));
  const tasks = [...ofLeft, ...added.map(([, task]) => unmatched(task, "added"))];
  const inputs = inputDifferences(a, b);
  const exit = a.exitReason === b.exitReason ? null : "exit reason";
  const first = firstOf(inputs, tasks) ?? exit;
  return {
    different: first !== null,
    first,
    runs: [a.runId, b.runId],
    exitReasons: [a.exitReason, b.exitReason],
    inputs,
    totals: [measuresOf(a), measuresOf(b)],
    tasks,
  };
}
