import type { Context } from "@opentelemetry/api";
import type { EnsembleEvent, EventType } from "../../../contracts/events.js";
import type {
  After,
  LlmCall,
  MemoryWrite,
  TaskCall,
  ToolCallContext,
} from "../../../contracts/hooks.js";
import type { ChatModel } from "../../../contracts/chat-model.js";
import type { MemoryEntry } from "../../../contracts/memory.js";
import type { HookRun } from "../../../contracts/run.js";
import type { EndedLlmCall } from "./model-spans.js";
import type { EndedToolCall } from "./tool-spans.js";
import type { Tracing } from "./tracing.js";
import { ModelSpans } from "./model-spans.js";
import { RunTrace } from "./run-trace.js";
import { ToolSpans } from "./tool-spans.js";

type EndedWrite = After<MemoryWrite, "entry", MemoryEntry>;

/** A place in a run. */
export interface Place {
  readonly runId: string;
  readonly taskId?: string | undefined;
  readonly toolCallId?: string | undefined;
}

/** The events that spans are created from. */
export const TRACED: readonly EventType[] = [
  "ensemble_started",
  "ensemble_completed",
  "task_started",
  "task_completed",
  "task_failed",
  "token",
  "tool_called",
  "memory_read",
  "memory_written",
];

/**
 * Converts the hooks and events of all runs of a kernel into spans and metrics. Keeps no state of
 * ended runs.
 */
export class Telemetry {
  readonly #runs = new Map<string, RunTrace>();
  readonly #models: ModelSpans;
  readonly #tools: ToolSpans;

  /** `active`: the instances with runs in progress. It contains this instance while it has runs. */
  constructor(
    readonly tracing: Tracing,
    readonly active: Set<Telemetry>,
  ) {
    this.#models = new ModelSpans(tracing);
    this.#tools = new ToolSpans(tracing);
  }

  handle(e: EnsembleEvent): void {
    if (e.type === "ensemble_started") {
      this.#runs.get(e.runId)?.end(undefined); // two runs with the same id: the first is abandoned
      this.#runs.set(e.runId, new RunTrace(this.tracing, e, this.tracing.api.context.active()));
      this.active.add(this);
      return;
    }
    const run = this.#runs.get(e.runId);
    if (run === undefined) return;
    if (e.type === "token") this.#models.chunk(run, e.taskId);
    else if (e.type === "task_started") run.announce(e);
    else if (e.type === "task_completed") run.completed(e);
    else if (e.type === "task_failed") run.failed(e);
    else if (e.type === "tool_called") this.#tools.told(run, e);
    else if (e.type === "memory_read") run.memoryRead(e);
    else if (e.type === "memory_written")
      run.memoryWrite(e.scope, run.contextOf(e.taskId, e.parentTaskId), undefined);
    else if (e.type === "ensemble_completed") {
      this.#runs.delete(e.runId);
      if (this.#runs.size === 0) this.active.delete(this);
      run.end(e);
    }
  }

  beginRun({ run }: { readonly run: HookRun }): void {
    const trace = this.#runs.get(run.id);
    if (trace === undefined) return;
    const span = trace.root(run, this.#parentContext(run, trace)).span.spanContext();
    // without an SDK the id is all zeros
    if (this.tracing.api.isSpanContextValid(span)) run.setTraceId(span.traceId);
  }

  runFailed({ run, error }: { readonly run: HookRun; readonly error?: Error | undefined }): void {
    const trace = this.#runs.get(run.id);
    if (trace !== undefined && error !== undefined) trace.error = error;
  }

  beginAttempt(call: TaskCall): void {
    this.#runs.get(call.run.id)?.beginAttempt(call, modelOf(call));
  }

  beginModelCall(call: LlmCall): void {
    const run = this.#runs.get(call.run.id);
    if (run !== undefined) this.#models.begin(run, call);
  }

  endModelCall(call: EndedLlmCall): void {
    const run = this.#runs.get(call.run.id);
    if (run !== undefined) this.#models.end(run, call);
  }

  beginToolCall(call: ToolCallContext): void {
    const run = this.#runs.get(call.run.id);
    if (run !== undefined) this.#tools.begin(run, call);
  }

  endToolCall(call: EndedToolCall): void {
    const run = this.#runs.get(call.run.id);
    if (run !== undefined) this.#tools.settle(run, call);
  }

  beginMemoryWrite(write: MemoryWrite): void {
    this.#runs.get(write.run.id)?.beginMemoryWrite(write);
  }

  /** Ends a memory write. A successful write is recorded from its event, which has the task. */
  endMemoryWrite({ run, scope, error }: EndedWrite): void {
    const trace = this.#runs.get(run.id);
    if (trace !== undefined && error !== undefined)
      trace.memoryWrite(scope, trace.root().context, error);
  }

  /**
   * Returns the context of a tool call, or else of its task, or else of its run. Returns
   * `undefined` if the run is unknown or has ended.
   */
  contextAt({ runId, taskId, toolCallId }: Place): Context | undefined {
    const run = this.#runs.get(runId);
    if (run === undefined) return undefined;
    const task = taskId === undefined ? undefined : run.task(taskId);
    const call =
      toolCallId === undefined
        ? undefined
        : task?.toolCalls.values().find((o) => o.call.id === toolCallId && o.end === undefined);
    return (call ?? task ?? run.root()).context;
  }

  /**
   * Returns the context of the outer run if a run has joined it. A span of the user in between
   * takes precedence.
   */
  #parentContext(run: HookRun, trace: RunTrace): Context {
    const id = run.parent?.id ?? "";
    // another kernel may execute the outer run
    const others = [...this.active].map((other) => other.#runs.get(id));
    const outer = this.#runs.get(id) ?? others.find((other) => other !== undefined);
    if (outer === undefined) return trace.caller;
    const { getSpan } = this.tracing.api.trace;
    return getSpan(trace.caller) === getSpan(outer.caller) ? outer.contextForInner() : trace.caller;
  }
}

/** Returns the model of a task, if it has one. */
function modelOf({ run, task, agent }: TaskCall): ChatModel | undefined {
  if (agent === undefined) return undefined;
  try {
    return run.modelFor(task, agent);
  } catch {
    return undefined; // an unknown name fails the task
  }
}
