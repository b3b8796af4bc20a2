import type { Agent } from "../../contracts/agent.js";
import type { EnsembleOptions } from "../../contracts/ensemble-options.js";
import type { NewEvent } from "../../contracts/events.js";
import type { TaskOutput, WorkflowResult } from "../../contracts/output.js";
import type { Plan, PlannedTask } from "../../contracts/plan.js";
import type { Run, WorkflowReport, RunTaskOptions } from "../../contracts/run.js";
import type { AnyTask } from "../../contracts/task.js";
import { RunCancelledError, TaskExecutionError, ValidationError } from "../../contracts/errors.js";
import { NO_METRICS, SOURCE_TASK } from "../../contracts/output.js";
import { sleep } from "../../util/abort/timeouts.js";

/** Creates a finished task that was not executed. */
export function stagedOutput(taskId: string, task: AnyTask, raw: string): TaskOutput {
  const output = {
    taskId,
    raw,
    parsed: raw,
    taskDescription: task.description,
    agentRole: task.agent?.role ?? "(deterministic)",
    completedAt: new Date(0),
    durationMs: 0,
    toolCallCount: 0,
    metrics: NO_METRICS,
    [SOURCE_TASK]: task,
    getParsedOutput: () => raw as never, // only texts are available
  };
  return Object.freeze(output);
}

/** Creates a plan of these tasks as `run()` does, with their texts unchanged. */
export function stagedPlan(tasks: readonly AnyTask[], options: EnsembleOptions = {}): Plan {
  const ids = new Map(tasks.map((task, index) => [task, task.name ?? `task-${index + 1}`]));
  const planned = tasks.map((task): PlannedTask => {
    const contextIds = task.context.map((context) => ids.get(context) ?? "");
    return Object.freeze({
      id: ids.get(task) ?? "",
      task,
      contextIds: Object.freeze(contextIds),
      agent: task.agent,
    });
  });
  const rest = {
    options: Object.freeze({ ...options, tasks }),
    phases: [],
    loops: [],
    idOf: (task: AnyTask) => ids.get(task),
  };
  return Object.freeze({ tasks: Object.freeze(planned), ...rest });
}

/**
 * The run of a workflow in which no task does real work. Each task takes a moment and can be made
 * to fail. All calls are recorded.
 */
export class StagedRun implements Run {
  readonly id: string;
  readonly inputs = {};
  readonly tags = {};
  /** Ids in the order of their starts. */
  readonly started: string[] = [];
  /**
   * Ids of tasks that started before one of their context tasks had finished, without given
   * outputs.
   */
  readonly premature: string[] = [];
  readonly made = new Set<TaskOutput>();
  active = 0;
  refused = 0;
  readonly #controller = new AbortController();
  readonly #done = new Set<string>();
  readonly #tasks: Map<string, PlannedTask>;
  readonly #failing: (taskId: string) => Error | undefined;
  readonly #defined = new Map<string, number>();

  constructor(
    id: string,
    readonly plan: Plan,
    failing: (taskId: string) => Error | undefined = () => undefined,
  ) {
    this.id = id;
    this.#tasks = new Map(plan.tasks.map((task) => [task.id, task]));
    this.#failing = failing;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  cancel(): void {
    this.#controller.abort(new RunCancelledError("The run was cancelled"));
  }

  async runTask(taskId: string, extras: RunTaskOptions = {}): Promise<TaskOutput> {
    const task = this.#tasks.get(taskId);
    if (task === undefined) throw new ValidationError(`Unknown task id '${taskId}'`);
    if (this.signal.aborted) {
      this.refused++;
      throw this.signal.reason;
    }
    this.started.push(taskId);
    if (
      extras.contextOutputs === undefined &&
      task.contextIds.some((id) => this.#tasks.has(id) && !this.#done.has(id))
    )
      this.premature.push(taskId);
    this.active++;
    try {
      await sleep(1);
      if (this.signal.aborted) throw this.signal.reason;
      const failure = this.#failing(taskId);
      if (failure !== undefined) throw failure;
      const output = stagedOutput(taskId, task.task, `${this.id}: ${taskId}`);
      this.made.add(output);
      this.#done.add(taskId);
      return output;
    } finally {
      this.active--;
    }
  }

  runWorkflow(): Promise<WorkflowResult> {
    return Promise.reject(new ValidationError("A staged run has no other workflows"));
  }

  define(task: AnyTask, o: { readonly parentTaskId?: string | undefined } = {}): string {
    const parent = o.parentTaskId ?? "task";
    const n =
      (this.#defined.get(parent) ?? (o.parentTaskId === undefined ? this.plan.tasks.length : 0)) +
      1;
    this.#defined.set(parent, n);
    const id = task.name ?? (o.parentTaskId === undefined ? `task-${n}` : `${parent}.${n}`);
    this.#tasks.set(id, { id, task: task, contextIds: [], agent: task.agent });
    return id;
  }

  async agentOf(taskId: string): Promise<Agent | undefined> {
    return this.#tasks.get(taskId)?.agent;
  }

  get workers(): readonly Agent[] {
    return this.plan.options.agents ?? [];
  }

  reportWorkflow(_part: WorkflowReport): void {
    // not read
  }

  emit(_event: NewEvent): void {
    // no listener
  }

  listens(): boolean {
    return false;
  }

  get<T>(): T {
    throw new ValidationError("A staged run has no bindings");
  }

  find<T>(): T | undefined {
    return undefined;
  }

  all<T>(): readonly T[] {
    return [];
  }
}

/** The error with which `runTask` of a real run rejects when the work of a task has failed. */
export function stagedFailure(taskId: string): TaskExecutionError {
  const context = {
    taskDescription: taskId,
    agentRole: "(deterministic)",
    completedTaskOutputs: [],
  };
  return new TaskExecutionError(`Task failed: ${taskId}`, context, {
    cause: new Error(`${taskId} has failed`),
  });
}
