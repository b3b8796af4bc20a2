import type { JsonObject } from "./json-object.js";
import {
  instant,
  type SavedCall,
  type SavedDelegation,
  type SavedTask,
  type SavedTool,
  type SavedTrace,
} from "./saved-trace.js";
import { savedUsage, type TraceUsage } from "./saved-usage.js";

/** An entry without its number. `ms` is in milliseconds since 1970. */
export interface SavedLine {
  readonly ms: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Lines before and after the lines of an attempt of a task. */
export interface LinesAround {
  readonly before: SavedLine[];
  readonly after: SavedLine[];
}

/** Tools whose calls are delegations. */
const DELEGATING = new Set(["delegate", "delegateTask"]);

/** Returns the lines of all attempts of a saved trace. Lines of the same instant are in order. */
export function savedTaskLines(
  trace: SavedTrace,
  attempts: readonly SavedTask[],
  around: ReadonlyMap<SavedTask, LinesAround>,
): readonly SavedLine[] {
  const writer = new TaskLines(trace, attempts, around);
  for (const task of trace.tasks) writer.add(task);
  return writer.lines;
}

class TaskLines {
  readonly lines: SavedLine[] = [];
  readonly #trace: SavedTrace;
  readonly #around: ReadonlyMap<SavedTask, LinesAround>;
  readonly #usage: TraceUsage;
  /** Number of unwritten attempts of each task. */
  readonly #left = new Map<string, number>();
  /** Tasks whose last attempt was refused and is repeated. */
  readonly #repeated = new Set<string>();
  /** Errors of each task that are not assigned to an attempt yet. */
  readonly #errors = new Map<string, JsonObject[]>();

  constructor(
    trace: SavedTrace,
    attempts: readonly SavedTask[],
    around: ReadonlyMap<SavedTask, LinesAround>,
  ) {
    this.#trace = trace;
    this.#around = around;
    this.#usage = savedUsage(trace, attempts);
    for (const { taskId } of attempts) this.#left.set(taskId, (this.#left.get(taskId) ?? 0) + 1);
    for (const error of trace.errors) {
      const taskId = error.text("taskId");
      this.#errors.set(taskId, [...(this.#errors.get(taskId) ?? []), error]);
    }
    for (const usage of this.#usage.others.get("") ?? [])
      this.lines.push({ ...usage, ms: trace.endMs, type: "usage_recorded" });
  }

  add(task: SavedTask): void {
    const { taskId } = task;
    const left = (this.#left.get(taskId) ?? 1) - 1;
    this.#left.set(taskId, left);
    this.lines.push(...(this.#around.get(task)?.before ?? []));
    if (!this.#repeated.delete(taskId)) this.#started(task);
    this.#worked(task);
    if (left === 0)
      for (const usage of this.#usage.others.get(taskId) ?? [])
        this.#push(task, task.endMs, "usage_recorded", usage);
    this.#ended(task, left);
    this.lines.push(...(this.#around.get(task)?.after ?? []));
  }

  #push(task: SavedTask, ms: number, type: string, fields: object): void {
    const { taskId, parentTaskId, agentRole } = task;
    const parent = parentTaskId === undefined ? {} : { parentTaskId };
    this.lines.push({ taskId, ...parent, agentRole, ...fields, ms, type });
  }

  #started(task: SavedTask): void {
    const { attempt, taskDescription, expectedOutput, prompts, dependsOn, startMs } = task;
    this.#push(task, startMs, "task_started", {
      attempt,
      taskDescription,
      contextTaskIds: dependsOn,
      startedAt: instant(startMs),
    });
    for (const access of task.memory)
      if (access.text("operation") === "read")
        this.#push(task, startMs, "memory_read", memoryFields(access));
    if (prompts === undefined) return;
    const agent = this.#trace.agents.find(({ role }) => role === task.agentRole);
    this.#push(task, startMs, "task_input", {
      taskDescription,
      expectedOutput,
      agentGoal: agent?.goal ?? "",
      ...(agent?.background !== undefined && { agentBackground: agent.background }),
      toolNames: agent?.toolNames ?? [],
      systemPrompt: prompts.system,
      userPrompt: prompts.user,
      assembledContext: prompts.user,
    });
  }

  #worked(task: SavedTask): void {
    const delegations = [...task.delegations];
    for (const call of task.calls) {
      const usage = this.#usage.ofCall.get(call);
      if (usage !== undefined) this.#push(task, call.endMs, "usage_recorded", usage);
      if (call.error === undefined && call.responseType !== "ERROR") this.#answered(task, call);
      call.tools.forEach((tool, i) =>
        this.#tool(task, tool, { callId: String(i), iteration: call.iteration }, delegations),
      );
    }
    task.tools.forEach((tool, i) =>
      this.#tool(task, tool, { callId: String(i), iteration: -1 }, delegations),
    );
    for (const delegation of delegations) this.#delegation(task, delegation);
  }

  #answered(task: SavedTask, call: SavedCall): void {
    const durationMs = call.endMs - call.startMs;
    this.#push(task, call.endMs, "llm_iteration_completed", {
      taskDescription: task.taskDescription,
      iteration: call.iteration,
      iterationIndex: call.iteration,
      durationMs,
      latencyMs: durationMs,
      responseType: call.responseType,
      responseText: call.responseText,
      toolRequests: call.tools.map((tool) => ({ name: tool.toolName, arguments: tool.arguments })),
      inputTokens: call.inputTokens,
      outputTokens: call.outputTokens,
    });
  }

  #tool(task: SavedTask, tool: SavedTool, place: object, delegations: SavedDelegation[]): void {
    if (tool.outcome === "SKIPPED_MAX_ITERATIONS") return; // the call was refused before it started
    const fields = { ...place, toolName: tool.toolName, toolArguments: tool.arguments };
    this.#push(task, tool.startMs, "tool_started", fields);
    const delegation = DELEGATING.has(tool.toolName) ? delegations.shift() : undefined;
    if (delegation !== undefined) this.#delegation(task, delegation);
    this.#push(task, tool.endMs, "tool_called", {
      ...fields,
      toolResult: tool.result,
      structuredResult: tool.structured ?? null,
      durationMs: tool.endMs - tool.startMs,
      outcome: tool.outcome === "SUCCESS" ? "SUCCESS" : "FAILURE",
      toolOutcome: tool.outcome,
    });
  }

  #delegation(task: SavedTask, delegation: SavedDelegation): void {
    const { startMs, endMs, workerTrace, workerTaskId, result, succeeded } = delegation;
    const fields = {
      ...(workerTaskId !== undefined && { workerTaskId }),
      delegationId: `${task.taskId}/${this.lines.length}`,
      delegatingAgentRole: delegation.delegatorRole,
      workerRole: delegation.workerRole,
      taskDescription: delegation.taskDescription,
      delegationDepth: delegation.depth,
      request: { mode: delegation.mode },
    };
    const isRefused = !succeeded && workerTaskId === undefined;
    if (!isRefused) this.#push(task, startMs, "delegation_started", fields);
    if (workerTrace !== undefined) this.add(workerTrace);
    this.#push(task, endMs, succeeded ? "delegation_completed" : "delegation_failed", {
      ...fields,
      durationMs: endMs - startMs,
      ...(!succeeded && { reason: result }),
      response: { result, succeeded },
    });
  }

  #ended(task: SavedTask, left: number): void {
    const { outcome, attempt, endMs, startMs, taskDescription } = task;
    for (const access of task.memory)
      if (access.text("operation") === "write")
        this.#push(task, endMs, "memory_written", memoryFields(access));
    if (outcome === "running") return; // the task ends with the run
    const error = outcome === "ok" || outcome === "answered" ? undefined : this.#errorOf(task);
    if (outcome === "rejected") {
      const message = error?.text("message") ?? "";
      const refused = { kind: "OUTPUT", message, attempt, retriesLeft: left };
      this.#push(task, endMs, "guardrail_refused", refused);
      if (left > 0) this.#repeated.add(task.taskId);
      if (left > 0) return;
    }
    const fields = { attempt, taskDescription, durationMs: endMs - startMs };
    if (outcome === "ok" || outcome === "answered")
      this.#push(task, endMs, "task_completed", { ...fields, ...taskCompletion(task) });
    else this.#push(task, endMs, "task_failed", { ...fields, ...taskFailure(task, error) });
  }

  #errorOf({ taskId, taskDescription }: SavedTask): JsonObject | undefined {
    const known = this.#errors.get(taskId)?.shift();
    if (known !== undefined) return known;
    // Errors of other writers have no task ids.
    const others = this.#errors.get("") ?? [];
    return others.find((error) => error.text("taskDescription") === taskDescription);
  }
}

function memoryFields(access: JsonObject): object {
  const scope = access.optionalText("scope");
  const entries = access.texts("entries");
  return {
    kind: access.text("kind"),
    ...(scope !== undefined && { scope }),
    entries: entries.length,
    texts: entries,
    durationMs: 0,
  };
}

function taskCompletion(task: SavedTask): object {
  const { finalOutput = "", parsedOutput, metrics, agentRole, taskId, taskDescription } = task;
  const at = { startedAt: instant(task.startMs), completedAt: instant(task.endMs) };
  return {
    ...at,
    toolCallCount: metrics.number("toolCallCount", 0),
    tokenCount: metrics.number("totalTokens", -1),
    taskOutput: {
      taskId,
      taskDescription,
      agentRole,
      raw: finalOutput,
      parsed: parsedOutput ?? finalOutput,
      completedAt: at.completedAt,
    },
  };
}

/** Returns the error of a stopped run, or the error of the task as a run reports it. */
function taskFailure(task: SavedTask, error: JsonObject | undefined): object {
  const message = error?.text("message") ?? "";
  const failedAt = instant(task.endMs);
  if (task.outcome === "aborted")
    return {
      failedAt,
      reason: message,
      cause: { name: "RunCancelledError", code: "AE_RUN_CANCELLED", message },
    };
  return {
    failedAt,
    reason: message,
    cause: {
      name: "TaskExecutionError",
      code: "AE_TASK_EXECUTION",
      message: `Task failed: ${task.taskDescription}: ${message}`,
    },
  };
}
