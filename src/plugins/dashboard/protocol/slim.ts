import type { Dag, DagTask } from "../../../contracts/dag.js";
import type { EnsembleEvent } from "../../../contracts/events.js";
import type { LogEntry } from "../../../contracts/run-store.js";
import { shortened, shortValue } from "./run-data.js";
import { taskError } from "./task-error.js";
import type { ShownTexts } from "./snapshot.js";

/**
 * The form of a field of an event for views of the run.
 *
 * - `name`: complete.
 * - `plain`: complete and not redacted (numbers, fixed words).
 * - `text`: cut.
 * - `value`: with its texts cut.
 * - `error`: name, code and cut message of the failure in the task.
 * - `dag`: a diagram with cut texts.
 */
type FieldKind = "name" | "plain" | "text" | "value" | "error" | "dag";

type SlimFields = Readonly<Record<string, FieldKind>>;

function fields(kinds: Partial<Record<FieldKind, string>>): SlimFields {
  return Object.fromEntries(
    Object.entries(kinds).flatMap(([kind, names]) =>
      names.split(" ").map((name) => [name, kind as FieldKind] as const),
    ),
  );
}

const DELEGATION = fields({
  name: "delegationId workerTaskId workerRole",
  plain: "delegationDepth durationMs",
  text: "reason",
});

/**
 * The fields of each type in addition to those of all types. Other fields are sent with the full
 * entry only.
 */
const SLIM: { readonly [K in EnsembleEvent["type"]]: SlimFields } = {
  ensemble_started: fields({ name: "runId workflow ensembleId", plain: "totalTasks" }),
  ensemble_completed: fields({
    name: "ensembleId",
    plain: "exitReason totalDurationMs totalTokens totalToolCalls",
  }),
  run_planned: fields({ value: "inputs", name: "ensemble tags", dag: "dag" }),
  run_resumed: fields({ plain: "execution finishedTasks restoredCalls" }),
  run_suspended: fields({ text: "waitsFor" }),
  call_in_doubt: fields({ name: "key toolName" }),
  run_failed: fields({ plain: "code", text: "message" }),
  task_started: fields({
    name: "contextTaskIds",
    plain: "taskIndex attempt",
    text: "taskDescription",
  }),
  task_completed: fields({ plain: "attempt durationMs toolCallCount tokenCount" }),
  task_failed: fields({ plain: "attempt durationMs", error: "cause" }),
  task_input: fields({ name: "toolNames" }),
  llm_iteration_started: fields({ plain: "iteration totalMessageCount" }),
  llm_iteration_completed: fields({
    plain: "iteration durationMs responseType inputTokens outputTokens",
  }),
  reasoning_received: fields({ plain: "iteration" }),
  turn_started: fields({ name: "threadId messageId" }),
  turn_stored: fields({ name: "threadId", plain: "version status turnsInWindow summarized" }),
  usage_recorded: fields({
    name: "provider modelId source",
    plain:
      "purpose inputTokens outputTokens cachedInputTokens reasoningTokens recorded cost currency latencyMs calls attempt outcome iteration errorCode",
    text: "error",
  }),
  token: {},
  reasoning_token: {},
  tool_started: fields({ name: "callId toolName title", plain: "iteration private" }),
  tool_called: fields({
    name: "callId toolName",
    plain: "iteration durationMs outcome toolOutcome",
  }),
  guardrail_refused: fields({
    name: "guardrailName",
    plain: "kind attempt retriesLeft",
    text: "message",
  }),
  output_corrected: fields({ plain: "correction of" }),
  iteration_limit_reached: fields({ plain: "max stop" }),
  delegation_started: DELEGATION,
  delegation_completed: DELEGATION,
  delegation_failed: DELEGATION,
  file_changed: fields({ text: "filePath", plain: "changeType linesAdded linesRemoved timestamp" }),
  memory_read: fields({ name: "scope", plain: "kind entries durationMs" }),
  memory_written: fields({ name: "scope" }),
  review_requested: fields({
    name: "reviewId requiredRole toolName callId",
    plain: "timing requestedAt deadline timeoutMs onTimeout",
  }),
  review_resolved: fields({
    name: "reviewId by",
    plain: "decision timedOut durationMs",
    text: "comment",
  }),
  task_reflected: fields({ plain: "isFirstReflection" }),
  partial_output: {},
  budget_opened: fields({ plain: "limits used action" }),
  budget_changed: fields({ plain: "limits used reserved" }),
  budget_exceeded: fields({ plain: "limit allowed used action" }),
  retry_scheduled: fields({ plain: "attempt delayMs", text: "reason" }),
  rate_limited: fields({ plain: "waitMs requests periodMs" }),
  phase_started: fields({ name: "phaseName", plain: "attempt" }),
  phase_completed: fields({ name: "phaseName", plain: "attempt durationMs" }),
  loop_iteration_completed: fields({ name: "loopName", plain: "iterationNumber maxIterations" }),
  graph_state_completed: fields({ name: "graphName stateName nextState", plain: "stepNumber" }),
  run_warning: fields({ text: "message" }),
};

const OF_TASKS = fields({ name: "taskId parentTaskId agentRole" });
/** The fields of each type, those of tasks first. */
const BY_TYPE: ReadonlyMap<string, readonly (readonly [string, FieldKind])[]> = new Map(
  Object.entries(SLIM).map(([type, kinds]) => [type, Object.entries({ ...OF_TASKS, ...kinds })]),
);

/** Returns whether a field is not redacted. */
export function isPlainField(type: string, field: string): boolean {
  return BY_TYPE.get(type)?.some(([name, kind]) => name === field && kind === "plain") === true;
}

const TASK_FIELDS = Object.entries(OF_TASKS);

/**
 * Returns an entry without prompts, answers, arguments and results. Entries of unknown types keep
 * only the fields of all entries.
 */
export function slimEntry(entry: LogEntry, shown: ShownTexts): LogEntry {
  return slimNumbered(entry.n, entry, shown);
}

/** Like `slimEntry`, for an event with a separate number. Does not copy the event. */
export function slimNumbered(
  n: number,
  event: Readonly<Record<string, unknown>> & Pick<LogEntry, "at" | "type">,
  shown: ShownTexts,
): LogEntry {
  const { at, type } = event;
  const kept: { n: number; at: string; type: string; [field: string]: unknown } = { n, at, type };
  for (const [name, kind] of BY_TYPE.get(type) ?? TASK_FIELDS) {
    const value = event[name];
    if (value !== undefined) kept[name] = kind === "plain" ? value : shownField(value, kind, shown);
  }
  return kept;
}

function shownField(value: unknown, kind: Exclude<FieldKind, "plain">, shown: ShownTexts): unknown {
  switch (kind) {
    case "name":
      return typeof value === "string" ? shown.name(value) : named(value, shown);
    case "text":
      return typeof value === "string" ? shown.text(value) : undefined;
    case "value":
      return shown.value(value);
    case "error":
      return slimError(value, shown);
    case "dag":
      return slimDag(value as Dag, shown); // the plan of `run_planned`
  }
}

/**
 * Returns lists and records of names, such as ids, tags and the name of the ensemble. A description
 * in them is a text.
 */
function named(value: unknown, shown: ShownTexts): unknown {
  if (Array.isArray(value))
    return value.map((item) => (typeof item === "string" ? shown.name(item) : null));
  if (typeof value !== "object" || value === null) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, text]: [string, unknown]) =>
      typeof text === "string" && key !== "description"
        ? [[shown.name(key), shown.name(text)]]
        : [],
    ),
  );
}

function slimError(value: unknown, shown: ShownTexts): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  const { name, message, code } = taskError(value);
  return {
    name,
    message: typeof message === "string" ? shown.text(message) : "",
    ...(typeof code === "string" && { code }),
  };
}

function slimDag(dag: Dag, shown: ShownTexts): Dag {
  const task = ({ loopBody, ...node }: DagTask): DagTask => ({
    ...node,
    id: shown.name(node.id),
    description: shown.text(node.description),
    expectedOutput: "",
    agentRole: shown.name(node.agentRole),
    dependsOn: node.dependsOn.map(shown.name),
    ...(node.phase !== undefined && { phase: shown.name(node.phase) }),
    ...(loopBody !== undefined && { loopBody: loopBody.map(task) }),
  });
  return {
    ...dag,
    agents: dag.agents.map((agent) => ({
      ...agent,
      role: shown.name(agent.role),
      goal: shown.text(agent.goal),
      background: agent.background === undefined ? undefined : shown.text(agent.background),
      toolNames: agent.toolNames.map(shown.name),
    })),
    tasks: dag.tasks.map(task),
    edges: dag.edges.map((edge) => ({
      ...edge,
      fromTaskId: shown.name(edge.fromTaskId),
      toTaskId: shown.name(edge.toTaskId),
    })),
    parallelGroups: dag.parallelGroups.map((ids) => ids.map(shown.name)),
    criticalPath: dag.criticalPath.map(shown.name),
    ...(dag.graphEdges !== undefined && {
      graphEdges: dag.graphEdges.map((edge) => ({
        ...edge,
        fromStateId: shown.name(edge.fromStateId),
        toStateId: shown.name(edge.toStateId),
        conditionDescription: shown.text(edge.conditionDescription),
      })),
    }),
  };
}

/** Cuts texts and changes nothing else. For entries without secrets. */
export const CUT: ShownTexts = Object.freeze({
  text: shortened,
  name: (name: string) => name,
  value: shortValue,
});
