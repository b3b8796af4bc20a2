import { partLines } from "../util/part-line.js";
import type { KeptEntry, KeptRun } from "../contracts/journal.js";
import type { CallView, DelegationView, TaskView, ToolView, TraceView } from "./trace-view.js";
import type { Fields } from "../util/objects.js";
import { asCount, asFields, asList, asText } from "../util/objects.js";

/** The value of durations: a journal contains no durations. */
const UNKNOWN_MS = -1;

/** The entries of one attempt of a task. */
interface Attempt {
  /** `{identity}@{attempt}`. */
  readonly place: string;
  readonly entries: readonly KeptEntry[];
}

/**
 * Converts a run of a journal to the form of traces. The attempts of tasks are in the order of
 * their starts. Delegated tasks are below the delegating task. A journal contains no durations.
 */
export function keptTrace(run: KeptRun, entries: readonly KeptEntry[]): TraceView {
  const { result } = run;
  const { inputTokens = -1, outputTokens = -1, cost, currency = "" } = result?.metrics ?? {};
  const roles = new Map(result?.taskOutputs.map(({ taskId, agentRole }) => [taskId, agentRole]));
  const attempts = attemptsIn(entries);
  const delegated = new Set(
    attempts.map(({ place }) => place).filter((place) => isBelowOne(place, attempts)),
  );
  const error = result?.error;
  return {
    runId: run.runId,
    workflow: run.ensemble,
    exitReason: result?.exitReason ?? run.status.toUpperCase(),
    inputs: run.inputs,
    captureMode: "",
    startedAt: run.startedAt,
    durationMs: UNKNOWN_MS,
    inputTokens,
    outputTokens,
    cost: cost === undefined ? null : { amount: cost, currency, atLeast: false },
    tasks: attempts
      .filter(({ place }) => !delegated.has(place))
      .map((attempt) => keptTaskOf(attempt, attempts, roles)),
    errors:
      error === undefined
        ? []
        : [{ taskId: null, type: "", code: error.code, message: error.message }],
  };
}

function attemptsIn(entries: readonly KeptEntry[]): readonly Attempt[] {
  const byPlace = new Map<string, KeptEntry[]>();
  for (const entry of entries) {
    const place = entry.task.replace(/#\d+$/, ""); // calls of judges of its output
    if (!/@\d+$/.test(place)) continue; // of the run itself
    const known = byPlace.get(place);
    if (known === undefined) byPlace.set(place, [entry]);
    else known.push(entry);
  }
  return [...byPlace].map(([place, own]) => ({ place, entries: own }));
}

/**
 * Returns whether an attempt was made on behalf of another attempt: `lead@1>call_7@1` for `lead@1`.
 */
function isBelow(place: string, above: string): boolean {
  return place.startsWith(`${above}>`) && !place.slice(above.length + 1).includes(">");
}

function isBelowOne(place: string, attempts: readonly Attempt[]): boolean {
  return attempts.some((above) => isBelow(place, above.place));
}

function keptTaskOf(
  { place, entries }: Attempt,
  attempts: readonly Attempt[],
  roles: ReadonlyMap<string, string>,
): TaskView {
  const at = place.lastIndexOf("@");
  const taskId = place.slice(0, at);
  const task = asFields(entries.find(({ kind }) => kind === "task")?.value);
  const own = entries.filter(({ kind }) => kind === "call").map(({ value }) => asFields(value));
  const tools = new Map(entries.flatMap((entry) => keptToolOf(entry, place)));
  const calls = (own.length > 0 ? own : asList(task?.["calls"]).map(asFields)).map((call) =>
    keptCallOf(call ?? {}, tools),
  );
  const failure = entries.find(({ kind }) => kind === "failed");
  const agents = agentsInAttempt(own);
  return {
    taskId,
    attempt: Number(place.slice(at + 1)),
    agentRole: roles.get(taskId) ?? agents.at(-1) ?? "",
    description: "",
    outcome: task !== undefined ? "ok" : failure === undefined ? "unfinished" : "failed",
    durationMs: UNKNOWN_MS,
    output: task === undefined ? null : asText(task["raw"]),
    prompts: null,
    inputTokens: knownSum(calls.map(({ inputTokens }) => inputTokens)),
    outputTokens: knownSum(calls.map(({ outputTokens }) => outputTokens)),
    cost: null,
    calls,
    tools: [...tools.values()], // tools without a model call
    delegations: [
      ...agents.slice(1).map((to, i) => keptTransferOf(agents[i] ?? "", to)),
      ...attempts
        .filter((other) => isBelow(other.place, place))
        .map((other) => keptDelegationOf(taskId, keptTaskOf(other, attempts, roles))),
    ],
  };
}

/**
 * Returns the agents of an attempt in order. Each agent received the task from the previous agent.
 */
function agentsInAttempt(calls: readonly (Fields | undefined)[]): readonly string[] {
  const agents: string[] = [];
  for (const call of calls) {
    if (call?.["purpose"] !== "task") continue;
    const role = asText(call["agentRole"] ?? agents[0]);
    if (role !== "" && role !== agents.at(-1)) agents.push(role);
  }
  return agents;
}

function knownSum(counts: readonly number[]): number {
  return counts.some((count) => count < 0) ? -1 : counts.reduce((sum, count) => sum + count, 0);
}

/** Returns a model call with its requested tools. Removes these tools from `tools`. */
function keptCallOf(call: Fields, tools: Map<string, ToolView>): CallView {
  const response = asFields(call["response"]);
  const usage = asFields(response?.["usage"]);
  const message = asFields(response?.["message"]);
  const asked = asList(message?.["toolCalls"]).flatMap((value) => {
    const { id, arguments: given } = asFields(value) ?? {};
    const tool = tools.get(asText(id));
    tools.delete(asText(id));
    return tool === undefined ? [] : [{ ...tool, arguments: asText(given) }];
  });
  return {
    model: `${asText(call["provider"])}:${asText(call["modelId"])}`,
    purpose: asText(call["purpose"]),
    attempt: 1,
    durationMs: UNKNOWN_MS,
    inputTokens: asCount(usage?.["inputTokens"]) ?? -1,
    outputTokens: asCount(usage?.["outputTokens"]) ?? -1,
    cost: null,
    responseType: asked.length > 0 ? "TOOL_CALLS" : "",
    responseText: asText(message?.["content"]),
    error: null,
    tools: asked,
  };
}

/**
 * Returns the tool call of an entry with its id. A call that has begun but not ended is in doubt.
 */
function keptToolOf(
  { kind, key, value }: KeptEntry,
  place: string,
): readonly (readonly [id: string, tool: ToolView])[] {
  if (kind !== "tool" && kind !== "intent") return [];
  const fields = asFields(value);
  const error = asFields(fields?.["error"]);
  const isFailed = error !== undefined || fields?.["ok"] === false;
  const end = key.lastIndexOf("/"); // K:{place}/{id}/{tool}
  const view: ToolView = {
    tool: key.slice(end + 1),
    arguments: "",
    result:
      kind === "intent"
        ? "its end is unknown"
        : asText(error === undefined ? fields?.["output"] : error["message"]),
    parts: partLines(fields?.["parts"]),
    outcome: kind === "intent" ? "in doubt" : isFailed ? "failed" : "SUCCESS",
    durationMs: UNKNOWN_MS,
  };
  return [[key.slice(`K:${place}/`.length, end), view]];
}

function keptTransferOf(from: string, to: string): DelegationView {
  return {
    mode: "handoff",
    from,
    to,
    description: "",
    succeeded: true,
    result: "",
    durationMs: UNKNOWN_MS,
    worker: null,
    workerTaskId: null,
  };
}

function keptDelegationOf(from: string, worker: TaskView): DelegationView {
  return {
    mode: "task",
    from,
    to:
      worker.agentRole === ""
        ? worker.taskId.slice(worker.taskId.lastIndexOf(">") + 1)
        : worker.agentRole,
    description: "",
    succeeded: worker.outcome !== "failed",
    result: worker.output ?? "",
    durationMs: UNKNOWN_MS,
    worker,
    workerTaskId: null,
  };
}
