import type { Attributes, Context } from "@opentelemetry/api";
import type { Ev } from "../../../contracts/events.js";
import type { MemoryWrite, TaskCall } from "../../../contracts/hooks.js";
import type { ChatModel } from "../../../contracts/chat-model.js";
import type { HookRun } from "../../../contracts/run.js";
import type { OpenModelCall, OpenTask } from "./task-trace.js";
import type { OpenSpan, Tracing } from "./tracing.js";
import { createRedactor } from "../../../util/redaction/redactor.js";
import { KeyedQueue } from "../shared/keyed-queue.js";
import { ATTRIBUTES, OPERATIONS, SPAN_EVENTS } from "./semantic-names.js";
import { openTask, placeOfChild } from "./task-trace.js";
import { RunClock, begin, errorAttribute, noteError } from "./tracing.js";

/** A task whose span begins. */
interface NewTask {
  readonly taskId: string;
  readonly parentTaskId: string | undefined;
  /** The role of its agent. Absent without an agent, or if it is unknown. */
  readonly role?: string | undefined;
  readonly description: string;
  readonly event: Ev<"task_started"> | undefined;
  readonly model?: ChatModel | undefined;
}

/**
 * The state of the trace of one run. Each run has a separate state, so concurrent runs are not
 * mixed.
 */
export class RunTrace {
  readonly clock: RunClock;
  readonly startedMs: number;
  /** The error of a failed run. */
  error: Error | undefined;
  /** Model calls of tasks without a span. Such a task is waiting for its agent to be created. */
  readonly early = new KeyedQueue<string, OpenModelCall>();
  readonly memoryWrites = new KeyedQueue<string, number>();
  readonly #tasks = new KeyedQueue<string, OpenTask>();
  /** Announced tasks whose hook has not fired yet. */
  readonly #announced = new KeyedQueue<string, Ev<"task_started">>();
  #withoutSecrets: ((text: string) => string) | undefined;
  #root: OpenSpan | undefined;
  #name: string | undefined;

  constructor(
    readonly tracing: Tracing,
    readonly started: Ev<"ensemble_started">,
    /** The active context of the caller of the run. */
    readonly caller: Context,
  ) {
    this.clock = new RunClock(tracing.clock);
    this.startedMs = this.clock.ms();
  }

  /** Removes the known secrets of the run from a text, and applies the rule of the user. */
  readonly redact = (text: string): string =>
    this.tracing.redact(text, (this.#withoutSecrets ??= createRedactor().redactText));

  /** Begins the span of the run once. `run` is absent only if no hook has fired. */
  root(run?: HookRun, parent: Context = this.caller): OpenSpan {
    if (this.#root !== undefined) return this.#root;
    if (run !== undefined) this.#withoutSecrets = (text) => run.redact(text);
    const { runId, workflow, totalTasks } = this.started;
    this.#name = run === undefined ? undefined : this.tracing.workflowNameOf(run);
    const tags: Attributes = Object.fromEntries(
      Object.entries(run?.tags ?? {}).map(([name, value]) => [ATTRIBUTES.runTag + name, value]),
    );
    const attributes: Attributes = {
      [ATTRIBUTES.operation]: OPERATIONS.workflow,
      ...this.#named(),
      [ATTRIBUTES.runId]: runId,
      [ATTRIBUTES.workflow]: workflow,
      [ATTRIBUTES.totalTasks]: totalTasks,
      ...tags,
    };
    const name =
      this.#name === undefined ? OPERATIONS.workflow : `${OPERATIONS.workflow} ${this.#name}`;
    this.#root = begin(this, { parent, name, attributes, startedMs: this.startedMs });
    return this.#root;
  }

  /** Ends all open spans. The span of the run ends last. */
  end(e: Ev<"ensemble_completed"> | undefined): void {
    const atMs = this.clock.ms();
    const at = this.clock.instant(atMs);
    const root = this.root();
    const going = this.#tasks
      .values()
      .flatMap((task) => [...task.modelCalls.values(), ...task.toolCalls.values(), task]);
    for (const { span } of [...this.early.values(), ...going]) {
      span.setAttribute(ATTRIBUTES.outcome, "aborted");
      span.end(at);
    }
    root.span.setAttribute(ATTRIBUTES.exitReason, e?.exitReason ?? "ERROR");
    if (e !== undefined) root.span.setAttribute(ATTRIBUTES.totalTokens, e.totalTokens);
    if (this.error !== undefined) noteError(this, root.span, this.error, at);
    root.span.end(at);
    this.tracing.instruments.run(atMs - this.startedMs, {
      ...this.#named(),
      ...errorAttribute(this.error),
    });
  }

  announce(e: Ev<"task_started">): void {
    this.#announced.push(e.taskId, e);
  }

  /** Begins the span of the task at its first hook. Later hooks are further attempts. */
  beginAttempt(call: TaskCall, model: ChatModel | undefined): void {
    const event = this.#announced.shift(call.taskId);
    const going = this.#tasks.last(call.taskId);
    if (event !== undefined || going === undefined) {
      const { taskId, parentTaskId, agent, task } = call;
      const { description } = task;
      this.#begin({ taskId, parentTaskId, role: agent?.role, description, event, model });
      return;
    }
    going.span.addEvent(
      SPAN_EVENTS.attempt,
      { [ATTRIBUTES.attempt]: call.attempt },
      this.clock.instant(this.clock.ms()),
    );
  }

  completed(e: Ev<"task_completed">): void {
    const task = this.#tasks.shift(e.taskId);
    if (task === undefined) return;
    const { inputTokens, outputTokens } = e.taskOutput.metrics;
    if (task.agentRole !== undefined && inputTokens >= 0)
      task.span.setAttributes({
        [ATTRIBUTES.inputTokens]: inputTokens,
        [ATTRIBUTES.outputTokens]: outputTokens,
      });
    this.#endTask(task, undefined);
  }

  failed(e: Ev<"task_failed">): void {
    const { taskId, parentTaskId, taskDescription: description } = e;
    const event =
      this.#tasks.last(taskId) === undefined ? this.#announced.shift(taskId) : undefined;
    const task =
      this.#tasks.shift(taskId) ?? this.#begin({ taskId, parentTaskId, description, event });
    this.#tasks.remove(e.taskId, task);
    this.#endTask(task, e.cause);
  }

  /** Returns the task in progress. */
  task(taskId: string): OpenTask | undefined {
    return this.#tasks.last(taskId);
  }

  /**
   * Returns the context for a step of a task. The span of the task may not have begun, because its
   * agent is being created.
   */
  contextOf(taskId: string, parentTaskId: string | undefined): Context {
    return (
      (this.task(taskId) ?? (parentTaskId === undefined ? undefined : this.task(parentTaskId)))
        ?.context ?? this.root().context
    );
  }

  /**
   * Returns the context of a run that a task of this run has started. It is the context of the task
   * if only one task is in progress.
   */
  contextForInner(): Context {
    const tasks = this.#tasks.values();
    const [only] = tasks.length === 1 ? tasks : [];
    const calls = only?.toolCalls.values().filter((call) => call.end === undefined) ?? [];
    return (calls.length === 1 ? calls[0] : only)?.context ?? this.root().context;
  }

  memoryRead(e: Ev<"memory_read">): void {
    const endedMs = this.clock.ms();
    const store = e.scope ?? e.kind;
    const { span } = begin(this, {
      parent: this.contextOf(e.taskId, e.parentTaskId),
      name: `${OPERATIONS.memorySearch} ${store}`,
      attributes: {
        [ATTRIBUTES.operation]: OPERATIONS.memorySearch,
        [ATTRIBUTES.memoryStore]: store,
        [ATTRIBUTES.memoryKind]: e.kind,
        [ATTRIBUTES.memoryRecords]: e.entries,
      },
      startedMs: endedMs - e.durationMs,
    });
    span.end(this.clock.instant(endedMs));
  }

  /**
   * Records a write of memory. `parent` is the context of the task for a successful write. A failed
   * write has only its hook.
   */
  memoryWrite(scope: string, parent: Context, error: Error | undefined): void {
    const endedMs = this.clock.ms();
    const { span } = begin(this, {
      parent,
      name: `${OPERATIONS.memoryCreate} ${scope}`,
      attributes: {
        [ATTRIBUTES.operation]: OPERATIONS.memoryCreate,
        [ATTRIBUTES.memoryStore]: scope,
        [ATTRIBUTES.memoryRecords]: 1,
      },
      startedMs: this.memoryWrites.shift(scope) ?? endedMs,
    });
    const at = this.clock.instant(endedMs);
    if (error !== undefined) noteError(this, span, error, at);
    span.end(at);
  }

  beginMemoryWrite({ scope }: MemoryWrite): void {
    this.memoryWrites.push(scope, this.clock.ms());
  }

  #begin(begun: NewTask): OpenTask {
    const { taskId, parentTaskId, role, description, event, model } = begun;
    const { names, captureContent } = this.tracing;
    const parent = parentTaskId === undefined ? undefined : this.task(parentTaskId);
    const operation = role === undefined ? OPERATIONS.task : OPERATIONS.agent;
    const attributes: Attributes = {
      [ATTRIBUTES.operation]: operation,
      ...(role !== undefined && { [ATTRIBUTES.agentName]: role }),
      ...(model !== undefined && {
        [names.provider]: model.provider,
        [ATTRIBUTES.requestModel]: model.modelId,
      }),
      [ATTRIBUTES.runId]: this.started.runId,
      [ATTRIBUTES.taskId]: taskId,
      ...(parentTaskId !== undefined && { [ATTRIBUTES.parentTaskId]: parentTaskId }),
      ...(event !== undefined &&
        event.taskIndex > 0 && { [ATTRIBUTES.taskIndex]: event.taskIndex }),
      ...(captureContent && { [ATTRIBUTES.taskDescription]: this.redact(description) }),
    };
    const span = begin(this, {
      parent: parent === undefined ? this.root().context : placeOfChild(parent, role, description),
      name: `${operation} ${role ?? taskId}`,
      attributes,
    });
    const task = openTask(span, taskId, role);
    this.#tasks.push(taskId, task);
    return task;
  }

  #endTask(task: OpenTask, error: Error | undefined): void {
    const atMs = this.clock.ms();
    const at = this.clock.instant(atMs);
    // abandoned calls
    for (const { span } of [...task.modelCalls.values(), ...task.toolCalls.values()]) span.end(at);
    if (error !== undefined) noteError(this, task.span, error, at);
    task.span.end(at);
    if (task.agentRole !== undefined)
      this.tracing.instruments.agent(atMs - task.startedMs, {
        [ATTRIBUTES.agentName]: task.agentRole,
        ...errorAttribute(error),
      });
  }

  #named(): Attributes {
    return this.#name === undefined ? {} : { [ATTRIBUTES.workflowName]: this.#name };
  }
}
