import type { AgentSummary, Dag } from "../../../contracts/dag.js";
import { JsonObject } from "./json-object.js";

// Instants are milliseconds since 1970. Missing fields have defaults, so that traces of older
// versions and of the Java version can be shown.

/** A span of a saved trace, in milliseconds since 1970. */
interface SavedSpan {
  readonly startMs: number;
  readonly endMs: number;
}

export interface SavedTool extends SavedSpan {
  readonly toolName: string;
  readonly arguments: string;
  readonly result: string;
  readonly structured: unknown;
  readonly outcome: string;
}

export interface SavedCall extends SavedSpan {
  readonly iteration: number;
  readonly attempt: number;
  readonly purpose: string;
  readonly provider: string;
  readonly modelId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | undefined;
  readonly responseType: string;
  readonly responseText: string;
  readonly error: string | undefined;
  readonly errorCode: string | undefined;
  readonly tools: readonly SavedTool[];
}

export interface SavedDelegation extends SavedSpan {
  readonly delegatorRole: string;
  readonly workerRole: string;
  readonly taskDescription: string;
  readonly depth: number;
  readonly mode: string;
  readonly result: string;
  readonly succeeded: boolean;
  readonly workerTaskId: string | undefined;
  readonly workerTrace: SavedTask | undefined;
}

/** One attempt of a task. */
export interface SavedTask extends SavedSpan {
  readonly taskId: string;
  readonly parentTaskId: string | undefined;
  readonly attempt: number;
  readonly outcome: string;
  readonly taskDescription: string;
  readonly expectedOutput: string;
  readonly agentRole: string;
  readonly dependsOn: readonly string[];
  readonly prompts: { readonly system: string; readonly user: string } | undefined;
  readonly calls: readonly SavedCall[];
  readonly tools: readonly SavedTool[];
  readonly delegations: readonly SavedDelegation[];
  readonly finalOutput: string | undefined;
  readonly parsedOutput: unknown;
  readonly metrics: JsonObject;
  readonly memory: readonly JsonObject[];
  readonly nodeType: string | undefined;
  readonly mapReduceLevel: number | undefined;
}

/** The trace of a run in a file. */
export interface SavedTrace extends SavedSpan {
  readonly runId: string;
  readonly workflow: string;
  readonly exitReason: string;
  readonly inputs: unknown;
  readonly tags: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
  readonly currency: string | undefined;
  readonly agents: readonly AgentSummary[];
  readonly tasks: readonly SavedTask[];
  readonly errors: readonly JsonObject[];
  /**
   * One object for each attempt of a model call, in the order of their ends. Empty in files of
   * other writers.
   */
  readonly ledger: readonly JsonObject[];
  readonly reviews: readonly JsonObject[];
  readonly loops: readonly JsonObject[];
  readonly graph: JsonObject | undefined;
  readonly phases: readonly JsonObject[];
  readonly mapReduceLevels: readonly unknown[];
}

/** Returns the ISO instant of a time in milliseconds. */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** Delegations with a deeper nesting are omitted. */
const DEEPEST = 100;

/**
 * Reads the JSON of a trace file, schema 1.x. `dag` is the diagram of the same run. If the trace
 * has no ids, the tasks get the ids of the diagram.
 * @throws Error for any other document.
 */
export function readSavedTrace(document: unknown, dag?: Dag): SavedTrace {
  const trace = new JsonObject(document);
  const version = trace.text("schemaVersion");
  if (trace.raw("type") === "dag") throw new Error("it is a diagram, not a trace");
  if (!/^1\.\d+$/.test(version) || !Array.isArray(trace.raw("taskTraces")))
    throw new Error(
      version === ""
        ? "it is not a trace: it has no schemaVersion"
        : `it is not a trace of schema 1.x: schemaVersion is ${version.slice(0, 20)}`,
    );
  const errors = trace.list("errors");
  const startMs = trace.instant("startedAt", 0);
  return {
    runId: trace.text("ensembleId"),
    workflow: trace.text("workflow"),
    startMs,
    endMs: trace.instant("completedAt", startMs),
    exitReason: trace.optionalText("exitReason") ?? (errors.length > 0 ? "ERROR" : "COMPLETED"),
    inputs: trace.raw("inputs") ?? {},
    tags: savedTexts(trace.object("metadata").object("tags")),
    warnings: trace.object("metadata").texts("warnings"),
    currency: savedCurrency(trace),
    agents: trace.list("agents").map(savedAgent),
    tasks: new TaskReader(startMs, errors, dag).tasks(trace.list("taskTraces")),
    errors,
    ledger: trace.object("metrics").list("ledger"),
    reviews: trace.list("reviews"),
    loops: trace.list("loopTraces"),
    graph: trace.raw("graphTrace") ? trace.object("graphTrace") : undefined,
    phases: trace.list("phases"),
    mapReduceLevels: trace.values("mapReduceLevels"),
  };
}

function savedTexts(fields: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    fields
      .entries()
      .filter((entry): entry is readonly [string, string] => typeof entry[1] === "string"),
  );
}

function savedCurrency(trace: JsonObject): string | undefined {
  const estimates = [
    trace.object("totalCostEstimate"),
    trace.object("metrics").object("costEstimate"),
  ];
  return estimates.map((estimate) => estimate.optionalText("currency")).find(Boolean);
}

function savedAgent(agent: JsonObject): AgentSummary {
  return {
    role: agent.text("role"),
    goal: agent.text("goal"),
    background: agent.optionalText("background"),
    toolNames: agent.texts("toolNames"),
    allowDelegation: agent.raw("allowDelegation") === true,
  };
}

function savedSpan(object: JsonObject, missing: number): SavedSpan {
  const startMs = object.instant("startedAt", missing);
  return { startMs, endMs: Math.max(startMs, object.instant("completedAt", startMs)) };
}

/** Reads the tasks of one trace. */
class TaskReader {
  readonly #startMs: number;
  readonly #errors: readonly JsonObject[];
  /** Nodes of the diagram without a task, for traces without ids. */
  readonly #nodes: {
    readonly id: string;
    readonly description: string;
    readonly agentRole: string;
  }[];
  #unnamed = 0;

  constructor(startMs: number, errors: readonly JsonObject[], dag: Dag | undefined) {
    this.#startMs = startMs;
    this.#errors = errors;
    this.#nodes = [...(dag?.tasks ?? [])];
  }

  tasks(tasks: readonly JsonObject[]): readonly SavedTask[] {
    return tasks.map((task) => this.#task(task, undefined, 0));
  }

  #task(task: JsonObject, parent: string | undefined, depth: number): SavedTask {
    const taskDescription = task.text("taskDescription");
    const agentRole = task.text("agentRole");
    const taskId = task.optionalText("taskId") ?? this.#idFor(taskDescription, agentRole);
    const prompts = task.object("prompts");
    return {
      taskId,
      parentTaskId: task.optionalText("parentTaskId") ?? parent,
      attempt: task.number("attempt", 1),
      outcome: task.optionalText("outcome") ?? this.#outcomeOf(taskDescription, agentRole),
      taskDescription,
      expectedOutput: task.text("expectedOutput"),
      agentRole,
      dependsOn: task.texts("dependsOn"),
      ...savedSpan(task, this.#startMs),
      prompts: task.raw("prompts")
        ? { system: prompts.text("systemPrompt"), user: prompts.text("userPrompt") }
        : undefined,
      calls: task.list("llmInteractions").map((call) => savedCall(call, this.#startMs)),
      tools: task.list("toolCalls").map((tool) => savedTool(tool, this.#startMs)),
      delegations:
        depth >= DEEPEST
          ? []
          : task.list("delegations").map((given) => this.#delegation(given, taskId, depth + 1)),
      finalOutput: task.optionalText("finalOutput"),
      parsedOutput: task.raw("parsedOutput") ?? undefined,
      metrics: task.object("metrics"),
      memory: task.list("memory"),
      nodeType: task.optionalText("nodeType"),
      mapReduceLevel: task.optionalNumber("mapReduceLevel"),
    };
  }

  #delegation(delegation: JsonObject, taskId: string, depth: number): SavedDelegation {
    const workerTrace = delegation.raw("workerTrace")
      ? this.#task(delegation.object("workerTrace"), taskId, depth)
      : undefined;
    return {
      delegatorRole: delegation.text("delegatorRole"),
      workerRole: delegation.text("workerRole"),
      taskDescription: delegation.text("taskDescription"),
      depth: delegation.number("depth", depth),
      mode: delegation.optionalText("mode") ?? "task",
      ...savedSpan(delegation, this.#startMs),
      result: delegation.text("result"),
      succeeded: delegation.raw("succeeded") !== false,
      workerTaskId: workerTrace?.taskId ?? delegation.optionalText("workerTaskId"),
      workerTrace,
    };
  }

  #idFor(description: string, role: string): string {
    const at = this.#nodes.findIndex(
      (node) => node.description === description && node.agentRole === role,
    );
    const [node] = at === -1 ? [] : this.#nodes.splice(at, 1);
    return node?.id ?? `task-${++this.#unnamed}`;
  }

  #outcomeOf(description: string, role: string): string {
    const hasFailed = this.#errors.some(
      (error) => error.text("taskDescription") === description && error.text("agentRole") === role,
    );
    return hasFailed ? "failed" : "ok";
  }
}

function savedCall(call: JsonObject, startMs: number): SavedCall {
  return {
    iteration: call.number("iterationIndex", 0),
    attempt: call.number("attempt", 1),
    purpose: call.optionalText("purpose") ?? "task",
    provider: call.optionalText("provider") ?? "unknown",
    modelId: call.optionalText("modelId") ?? "unknown",
    ...savedSpan(call, startMs),
    inputTokens: call.number("inputTokens", -1),
    outputTokens: call.number("outputTokens", -1),
    cost: call.optionalNumber("cost"),
    responseType: call.text("responseType"),
    responseText: call.text("responseText"),
    error: call.optionalText("error"),
    errorCode: call.optionalText("errorCode"),
    tools: call.list("toolCalls").map((tool) => savedTool(tool, startMs)),
  };
}

function savedTool(tool: JsonObject, startMs: number): SavedTool {
  return {
    toolName: tool.text("toolName"),
    arguments: tool.text("arguments"),
    result: tool.text("result"),
    structured: tool.raw("structuredOutput") ?? undefined,
    outcome: tool.optionalText("outcome") ?? "SUCCESS",
    ...savedSpan(tool, startMs),
  };
}
