import type { CaptureModeDefinition } from "../../contracts/capture.js";
import type { Agent } from "../../contracts/agent.js";
import type { DelegationRequest } from "../../contracts/delegation.js";
import type { ContextFormatter } from "../../contracts/context-format.js";
import type { EnsembleOptions } from "../../contracts/ensemble-options.js";
import type { NewEvent } from "../../contracts/events.js";
import type { TaskExecutor } from "../../contracts/executors.js";
import type { TaskOutput } from "../../contracts/output.js";
import type { Plan, PlannedTask } from "../../contracts/plan.js";
import type { RetryPolicy } from "../../contracts/retry.js";
import type {
  DefineOptions,
  HookRun,
  Run,
  TaskMetricsUpdate,
  WorkflowReport,
} from "../../contracts/run.js";
import type { Clock } from "../../contracts/runtime.js";
import type { AnyTask } from "../../contracts/task.js";
import type { ReviewRecord } from "../../contracts/trace.js";
import type { Inputs } from "../../contracts/types.js";
import type { SavedUsage, UsageRecord } from "../../contracts/usage.js";
import type { HookPoints } from "../../kernel/hooks/points.js";
import type { TaskAttempt, TimeBase } from "../tasks/task-attempt.js";
import type { Ledger } from "../usage/ledger.js";
import type { PlanDraft } from "../plan/plan.js";
import type { RunEvents } from "./run-events.js";
import type { RunRedactor } from "./run-redactor.js";
import type { Settings } from "../plan/settings.js";
import { AgentEnsembleError, RunCancelledError, ValidationError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { knownNames } from "../../contracts/validation.js";
import { Cancellation } from "../../util/abort/cancellation.js";
import { Pricing } from "../../contracts/pricing.js";
import { contextIdsOf, fillTask } from "../plan/plan.js";
import { addForeign } from "../usage/elsewhere.js";

type Priority = DelegationRequest["priority"];

/** The limits of a run. */
export interface RunLimits {
  readonly graceMs: number;
  /** For calls in a task. Shorter than `graceMs`, so that calls end, and are recorded, first. */
  readonly callGraceMs: number;
  readonly maxToolOutputLength: number;
  readonly maxDelegationDepth: number;
  readonly toolTimeoutMs: number | undefined;
}

/** The parts of a run. */
export interface ActiveRunParts {
  readonly id: string;
  readonly inputs: Inputs;
  readonly tags: Readonly<Record<string, string>>;
  /** The run that this run joins. */
  readonly parent: HookRun | undefined;
  readonly draft: PlanDraft;
  readonly settings: Settings;
  readonly points: HookPoints;
  readonly events: RunEvents;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly cancellation: Cancellation<AgentEnsembleError>;
  readonly limits: RunLimits;
  /** `undefined`: the observers of the kernel decide. */
  readonly streaming: boolean | "guarded" | undefined;
  readonly base: TimeBase;
  readonly capture: CaptureModeDefinition;
  readonly formatter: ContextFormatter | undefined;
  readonly redactor: RunRedactor;
  readonly views: RunViews;
  readonly priority: Priority;
}

/** Creates the views of a run. */
export interface RunViews {
  /** Returns the run for taps, tools and executors. */
  hookRun(run: ActiveRun, parts: ActiveRunParts): HookRun;
  /** Returns the run for its workflow. */
  workflowRun(run: ActiveRun): Run;
}

/** The data of one run. Other code accesses it through its views, tasks through their scope. */
export class ActiveRun {
  readonly plan: Plan;
  readonly settings: Settings;
  readonly points: HookPoints;
  readonly events: RunEvents;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly cancellation: Cancellation<AgentEnsembleError>;
  readonly limits: RunLimits;
  /** Whether tokens wait until the output of their task is accepted. */
  readonly guarded: boolean;
  readonly base: TimeBase;
  readonly capture: CaptureModeDefinition;
  readonly formatter: ContextFormatter | undefined;
  readonly redactor: RunRedactor;
  readonly priority: Priority;
  readonly pricing: Pricing | undefined;
  readonly executors: readonly TaskExecutor[];
  readonly retryPolicy: RetryPolicy | undefined;
  readonly records: TaskAttempt[] = [];
  /** The last output of each task. */
  readonly outputs = new Map<string, TaskOutput>();
  readonly attempts = new Map<string, number>();
  readonly ids: Map<AnyTask, string>;
  readonly warn = (message: string): void => this.events.warn(message);
  readonly agents = new Map<string, Promise<Agent>>();
  /** Agents created for tasks without an agent. */
  readonly madeAgents: Agent[] = [];
  readonly reports: WorkflowReport[] = [];
  /** Usage of earlier executions, as reported by a plugin. */
  readonly earlierUsage: UsageRecord[] = [];
  readonly reviews: ReviewRecord[] = [];
  /** The id of the run in a tracing system. */
  traceId: string | undefined;
  /** The usage of earlier executions of the run. */
  saved: SavedUsage | undefined;
  /** The run for taps. */
  readonly info: HookRun;
  /** The run for workflows. */
  readonly view: Run;
  readonly #streaming: boolean | "guarded" | undefined;
  #stopped: AgentEnsembleError | undefined;
  /** The tasks of the plan, then added tasks, and the position of each task. */
  readonly #tasks: PlannedTask[];
  readonly #places: Map<string, number>;
  /** The user's objects of the tasks that the plan has copied. */
  readonly #sources = new Map<string, AnyTask>();
  readonly #children = new Map<string, number>();
  readonly #shared = new WeakMap<AbortSignal, Cancellation<AgentEnsembleError>>();
  readonly #borrowed: Cancellation<AgentEnsembleError>[] = [];

  constructor(parts: ActiveRunParts) {
    const { draft, settings } = parts;
    this.plan = draft.plan;
    this.settings = settings;
    this.points = parts.points;
    this.events = parts.events;
    this.clock = parts.clock;
    this.ledger = parts.ledger;
    this.cancellation = parts.cancellation;
    this.limits = parts.limits;
    this.#streaming = parts.streaming;
    this.guarded = parts.streaming === "guarded";
    this.base = parts.base;
    this.capture = parts.capture;
    this.formatter = parts.formatter;
    this.redactor = parts.redactor;
    this.priority = parts.priority;
    const prices = settings.find(Tokens.CostConfiguration);
    this.pricing = prices === undefined ? undefined : new Pricing(prices, this.warn);
    this.executors = settings.all(Tokens.TaskExecutor);
    this.retryPolicy = settings.find(Tokens.RetryPolicy);
    this.ids = draft.ids;
    this.#tasks = [...draft.plan.tasks];
    this.#places = draft.places;
    for (const [source, id] of draft.ids)
      if (this.planned(id).task !== source) this.#sources.set(id, source);
    this.info = parts.views.hookRun(this, parts);
    this.view = parts.views.workflowRun(this);
  }

  get options(): EnsembleOptions {
    return this.plan.options;
  }

  /** Whether a model call that begins now is streamed for events. */
  get streaming(): boolean {
    return this.#streaming === undefined ? this.events.wantsTokens() : this.#streaming !== false;
  }

  /** The reason why no further task may start. `undefined` while tasks may start. */
  get stopped(): AgentEnsembleError | undefined {
    return this.#stopped ?? this.cancellation.reason;
  }

  /** Stops the run after the work in progress. */
  stop(reason: AgentEnsembleError): void {
    this.#stopped ??= reason;
  }

  /** Formats structured data for a prompt. */
  format(value: unknown, text: string): string {
    return this.formatter === undefined || typeof value !== "object" || value === null
      ? text
      : this.formatter.format(value, text);
  }

  /** Adds metrics to the attempt of a running task. */
  recordMetrics(taskId: string, measures: TaskMetricsUpdate): void {
    const record = this.records.findLast((r) => r.taskId === taskId);
    if (record !== undefined) this.keepMetrics(record, measures);
  }

  keepMetrics(record: TaskAttempt, measures: TaskMetricsUpdate): void {
    const { memory, usage } = measures;
    if (usage !== undefined) addForeign(this, record, usage);
    if (memory !== undefined && this.capture.capturesMemory)
      record.addMemory(typeof memory === "function" ? memory() : memory);
    record.note(measures);
  }

  planned(id: string): PlannedTask {
    const task = this.#tasks[this.#places.get(id) ?? -1];
    if (task !== undefined) return task;
    throw new ValidationError(
      `Unknown task id '${id}'. ${knownNames(id, [...this.#places.keys()])}`,
    );
  }

  indexOf(id: string): number {
    const place = this.#places.get(id) ?? Infinity;
    return place < this.plan.tasks.length ? place + 1 : 0;
  }

  /** Returns the task object that the user passed. */
  source(planned: PlannedTask): AnyTask {
    return this.#sources.get(planned.id) ?? planned.task;
  }

  /** Emits an event of a plugin. Also records a warning, even without a listener. */
  emit(e: NewEvent): void {
    if (e.type === "run_warning") this.warn(e.message);
    else this.events.emit(e);
  }

  /** Returns outputs in the plan's order, then others. Omits internal tasks and merged children. */
  completed(): TaskOutput[] {
    const merged = (r: TaskAttempt): boolean =>
      r.parentTaskId !== undefined &&
      this.outputs.has(r.parentTaskId) &&
      this.indexOf(r.taskId) === 0;
    const children = new Set(this.records.filter(merged).map((r) => r.taskId));
    const outputs = [...this.outputs.values()].filter(
      (o) => !children.has(o.taskId) && this.planned(o.taskId).internal !== true,
    );
    const place = (o: TaskOutput): number => this.indexOf(o.taskId) || Number.MAX_SAFE_INTEGER;
    return outputs.sort((a, b) => place(a) - place(b));
  }

  /** Returns one cancellation for all tasks with the same signal. */
  cancellationFor(signal: AbortSignal | undefined): Cancellation<AgentEnsembleError> {
    if (signal === undefined || signal === this.cancellation.signal) return this.cancellation;
    const known = this.#shared.get(signal);
    if (known !== undefined) return known;
    const shared = new Cancellation(this.cancellation).follow(signal, () =>
      AgentEnsembleError.isInstance(signal.reason)
        ? signal.reason
        : new RunCancelledError("The task was cancelled", { cause: signal.reason }),
    );
    this.#shared.set(signal, shared);
    this.#borrowed.push(shared);
    return shared;
  }

  define(task: AnyTask, o: DefineOptions = {}): string {
    const { parentTaskId, agent, template, purpose, internal, mapReduce } = o;
    const n =
      (this.#children.get(parentTaskId ?? "") ??
        (parentTaskId === undefined ? this.plan.tasks.length : 0)) + 1;
    this.#children.set(parentTaskId ?? "", n);
    const id =
      o.id ?? task.name ?? (parentTaskId === undefined ? `task-${n}` : `${parentTaskId}.${n}`);
    if (this.#places.has(id))
      throw new ValidationError(
        `Duplicate task name '${id}'. Task names must be unique within a run.`,
      );
    const place = this.#tasks.push({
      id,
      task: fillTask(task, this.info.inputs, template === true),
      contextIds: contextIdsOf(task, this.ids),
      agent: agent ?? task.agent,
      purpose,
      internal,
      mapReduce,
    });
    this.#places.set(id, place - 1);
    this.#sources.set(id, task);
    this.ids.set(task, id);
    return id;
  }

  /** Releases signals and timers. */
  close(): void {
    this.events.close();
    this.redactor.close();
    for (const shared of this.#borrowed) shared.dispose();
    this.cancellation.dispose();
  }
}
