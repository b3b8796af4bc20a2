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

/** A task whose span is to begin. */
interface NewTask {
  readonly taskId: string;
  readonly parentTaskId: string | undefined;
  /** Of its agent. Absent: it has none, or none is known. */
  readonly role?: string | undefined;
  readonly description: string;
  readonly event: Ev<"task_started"> | undefined;
  readonly model?: ChatModel | undefined;
}

/** What is going on in one run. Nothing here is shared with another run, so runs side by side don't mix. */
export class RunTrace {
  readonly clock: RunClock;
  readonly startedMs: number;
  /** How the run ended, where it failed. */
  error: Error | undefined;
  /** Model calls of tasks whose span has not begun, because their agents are being made. */
  readonly early = new KeyedQueue<string, OpenModelCall>();
  readonly memoryWrites = new KeyedQueue<string, number>();
  readonly #tasks = new KeyedQueue<string, OpenTask>();
  /** Tasks that have been announced and whose hook has not fired yet. */
  readonly #announced = new KeyedQueue<string, Ev<"task_started">>();
  #withoutSecrets: ((text: string) => string) | undefined;
  #root: OpenSpan | undefined;
  #name: string | undefined;

  constructor(
    readonly tracing: Tracing,
    readonly started: Ev<"ensemble_started">,
    /** What was active where the run was asked for. */
    readonly caller: Context,
  ) {
    this.clock = new RunClock(tracing.clock);
    this.startedMs = this.clock.ms();
  }

  /** A text without the secrets that the run knows of, as the user's own rule leaves it. */
  readonly redact = (text: string): string =>
    this.tracing.redact(text, (this.#withoutSecrets ??= createRedactor().redactText));

  /** Begins the run's span once; `run` is missing only where no hook has fired. */
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

  /** Ends everything that is still going on, the run last. */
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

  /** The task's first hook begins its span; later ones are further attempts. */
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

  /** The task in progress. */
  task(taskId: string): OpenTask | undefined {
    return this.#tasks.last(taskId);
  }

  /** Where a step of a task belongs, also of a task whose own span has not begun: its agent is being made. */
  contextOf(taskId: string, parentTaskId: string | undefined): Context {
    return (
      (this.task(taskId) ?? (parentTaskId === undefined ? undefined : this.task(parentTaskId)))
        ?.context ?? this.root().context
    );
  }

  /** Where a run belongs that a task of this one has begun: below that task, where only one can have done it. */
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

  /** A successful write, with its task; or a failed one, known from its hook only. */
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
    for (const { span } of [...task.modelCalls.values(), ...task.toolCalls.values()]) span.end(at); // abandoned ones
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
