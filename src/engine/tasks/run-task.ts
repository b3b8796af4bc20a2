import type { Agent } from "../../contracts/agent.js";
import type { AgentEnsembleError } from "../../contracts/errors.js";
import type { TaskCall } from "../../contracts/hooks.js";
import type { TaskOutput } from "../../contracts/output.js";
import type { PlannedTask } from "../../contracts/plan.js";
import type { Revision, RunTaskOptions } from "../../contracts/run.js";
import type { ActiveRun } from "../run/active-run.js";
import type { TaskIdentity } from "./task-frame.js";
import { checkPriority } from "../../contracts/delegation-request.js";
import {
  RunCancelledError,
  RunTimeoutError,
  TaskExecutionError,
  TaskTimeoutError,
  ValidationError,
  endsRun,
} from "../../contracts/errors.js";
import { Cancellation } from "../../util/abort/cancellation.js";
import { settleWithin } from "../../util/abort/timeouts.js";
import { messageOf, toError } from "../../util/errors.js";
import { takeStep } from "../../kernel/hooks/step.js";
import { agentOf } from "./agents.js";
import { Attempt, Refused } from "./attempt.js";
import { TaskAttempt } from "./task-attempt.js";
import { TaskFrame } from "./task-frame.js";
import { explained, feedbackOf } from "../../contracts/task-value.js";
import { taskLabel } from "../../contracts/task-label.js";

const NO_SECTIONS: TaskCall["promptSections"] = Object.freeze([]);
const NO_OUTPUTS: readonly TaskOutput[] = Object.freeze([]);

const always = (): boolean => true;

/**
 * Executes one task: agent, attempts until the output is accepted, record and events.
 * @throws TaskExecutionError with the specific error as cause; the run's reason if it stopped.
 */
export function runTask(
  run: ActiveRun,
  taskId: string,
  extras: RunTaskOptions = {},
): Promise<TaskOutput> {
  let planned: PlannedTask;
  try {
    planned = run.planned(taskId);
    if (extras.priority !== undefined) checkPriority("Task priority", extras.priority);
  } catch (error) {
    return Promise.reject(toError(error));
  }
  return new TaskRun(run, planned, extras).perform();
}

class TaskRun {
  readonly #cancellation: Cancellation<AgentEnsembleError>;
  readonly #limit: Cancellation<AgentEnsembleError> | undefined;
  #record: TaskAttempt | undefined;
  #announced = false;
  #startedMs = 0;
  #role: string;

  constructor(
    readonly run: ActiveRun,
    readonly planned: PlannedTask,
    readonly extras: RunTaskOptions,
  ) {
    const { timeoutMs, handler, name, description } = planned.task;
    const shared = run.cancellationFor(extras.signal);
    if (timeoutMs !== undefined)
      this.#limit = new Cancellation(shared).expire(
        timeoutMs,
        () => new TaskTimeoutError(`Task '${name ?? description}'`, timeoutMs),
      );
    this.#cancellation = this.#limit ?? shared;
    this.#role =
      handler === undefined ? (this.#agentNow()?.role ?? "(synthesized)") : "(deterministic)";
  }

  async perform(): Promise<TaskOutput> {
    const { run, planned, extras } = this;
    const stopped = run.stopped ?? this.#cancellation.reason;
    try {
      if (stopped !== undefined) throw stopped;
      this.#startedMs = run.clock.monotonicMs();
      const contextOutputs = this.#contextOutputs();
      let agent = this.#agentNow();
      if (agent === undefined && planned.task.handler === undefined) {
        const made = agentOf(run, planned, extras.parentTaskId);
        agent = await settleWithin(made, this.#cancellation, run.limits.graceMs);
      }
      if (agent !== undefined) this.#role = agent.role;
      if (this.#cancellation.reason !== undefined) throw this.#cancellation.reason;
      this.#announce(contextOutputs);
      let { revision } = extras;
      for (let retries = planned.task.guardrailRetries; ; retries--) {
        const attempt = this.#attempt(agent, contextOutputs, revision, retries);
        await takeStep(attempt);
        const output = attempt.conclude();
        if (!(output instanceof Refused)) return this.#accepted(output);
        if (retries <= 0 || this.#cancellation.reason !== undefined) throw output.error;
        revision = { feedback: feedbackOf(output.error), previousOutput: output.raw };
      }
    } catch (error) {
      if (stopped !== undefined) throw error;
      throw this.#failed(error);
    } finally {
      this.#limit?.dispose();
    }
  }

  /** Starts the next attempt. @throws the reason of a stop. */
  #attempt(
    agent: Agent | undefined,
    contextOutputs: readonly TaskOutput[],
    revision: Revision | undefined,
    retriesLeft: number,
  ): Attempt {
    const { run, planned, extras } = this;
    if (this.#cancellation.reason !== undefined) throw this.#cancellation.reason;
    const by = this.#record?.agent ?? agent; // handoffs stay in effect
    const record = this.#begin(by, run.clock.monotonicMs());
    run.attempts.set(planned.id, record.attempt);
    const frame = new TaskFrame(run, record, this.#cancellation, extras);
    const call = this.#callOf(frame, contextOutputs, revision, retriesLeft);
    return new Attempt(frame, planned, call);
  }

  /** Returns the record of an attempt that begins. */
  #begin(agent: Agent | undefined, startedMs: number): TaskAttempt {
    const { run, planned, extras } = this;
    const previous = this.#record;
    const record = new TaskAttempt({
      base: run.base,
      taskId: planned.id,
      parentTaskId: extras.parentTaskId,
      attempt: previous === undefined ? this.#nextAttempt : previous.attempt + 1,
      task: planned.task,
      agent,
      agentRole: this.#currentRole,
      startedMs,
      previous,
      contextIds: planned.contextIds,
      mapReduce: planned.mapReduce,
    });
    this.#record = record;
    run.records.push(record);
    return record;
  }

  /** The number of the first attempt, before it begins. */
  get #nextAttempt(): number {
    return this.extras.attempt ?? (this.run.attempts.get(this.planned.id) ?? 0) + 1;
  }

  #callOf(
    { key, record: { attempt, agent } }: TaskFrame,
    contextOutputs: readonly TaskOutput[],
    revision: Revision | undefined,
    retriesLeft: number,
  ): TaskCall {
    const { run, planned, extras } = this;
    return {
      run: run.info,
      taskId: planned.id,
      identity: key,
      task: planned.task,
      source: run.source(planned),
      group: planned.group,
      agent,
      contextOutputs,
      promptSections: NO_SECTIONS,
      attempt,
      revision,
      retriesLeft,
      parentTaskId: extras.parentTaskId,
      isLast: this.#isLast(),
      signal: this.#cancellation.signal,
    };
  }

  #isLast(): TaskCall["isLast"] {
    const { last, parentTaskId } = this.extras;
    if (typeof last === "function") return last;
    const isLast =
      last ?? (parentTaskId === undefined && this.run.plan.tasks.at(-1) === this.planned);
    return isLast ? always : undefined;
  }

  #contextOutputs(): readonly TaskOutput[] {
    if (this.extras.contextOutputs !== undefined) return this.extras.contextOutputs;
    const { contextIds, task } = this.planned;
    if (contextIds.length === 0) return NO_OUTPUTS;
    return contextIds.map((id) => {
      const output = this.run.outputs.get(id);
      if (output !== undefined) return output;
      throw new ValidationError(
        `Context task not yet completed: ${this.run.planned(id).task.description}`,
        { hint: `Task '${task.description}' needs its output; run it first.` },
      );
    });
  }

  get #currentRole(): string {
    return this.#record?.agentRole ?? this.#role;
  }

  #agentNow(): Agent | undefined {
    const { task, agent } = this.planned;
    return task.handler === undefined ? (this.extras.agent ?? agent) : undefined;
  }

  #announce(contextOutputs: readonly TaskOutput[]): void {
    this.#announced = true;
    const { events, options } = this.run;
    if (!events.listens("task_started")) return;
    events.emit({
      type: "task_started",
      ...this.#place(this.#nextAttempt),
      startedAt: events.now(),
      contextTaskIds: contextOutputs.map(({ taskId }) => taskId),
      verbose: options.verbose === true || this.planned.agent?.verbose === true,
    });
  }

  /** Emits the held tokens of an accepted output, or a changed text as one token. */
  #releaseTokens(raw: string): void {
    const held = this.#record?.heldTokens;
    if (this.#record === undefined || held === undefined) return;
    this.#record.heldTokens = undefined;
    const taskDescription = this.planned.task.description;
    for (const token of held.join("") === raw ? held : [raw])
      this.run.events.emit({ type: "token", ...this.#identity(), token, taskDescription });
  }

  #accepted(output: TaskOutput): TaskOutput {
    const { events, outputs } = this.run;
    outputs.set(this.planned.id, output);
    this.#releaseTokens(output.raw);
    if (!events.listens("task_completed")) return output;
    const { attempt } = this.#record as TaskAttempt; // a completed task has a record
    events.emit({
      type: "task_completed",
      ...this.#place(attempt),
      startedAt: (this.#record as TaskAttempt).wallClock(this.#startedMs).toISOString(),
      completedAt: output.completedAt.toISOString(),
      durationMs: Math.round(output.durationMs),
      toolCallCount: output.toolCallCount,
      tokenCount: output.metrics.totalTokens,
      taskOutput: output,
    });
    return output;
  }

  /** Returns the run's reason when the task was stopped, else a TaskExecutionError. */
  #failed(error: unknown): AgentEnsembleError {
    const { run } = this;
    const { reason } = this.#cancellation;
    const isExit = endsRun(error);
    if (isExit) run.stop(error);
    const stop = isStop(reason) || isExit ? (reason ?? (error as AgentEnsembleError)) : undefined;
    const cause = stop ?? toError(error);
    if (this.#record === undefined) this.#recordUnbegun(cause, stop !== undefined);
    const failure = stop ?? this.#executionError(cause);
    if (!this.#announced) {
      if (stop !== undefined) return failure;
      this.#announce(NO_OUTPUTS);
    }
    if (run.events.listens("task_failed"))
      run.events.emit({
        type: "task_failed",
        ...this.#place((this.#record as TaskAttempt).attempt), // recorded above
        failedAt: run.events.now(),
        durationMs: Math.round(run.clock.monotonicMs() - this.#startedMs),
        reason: messageOf(cause),
        cause: failure,
      });
    return failure;
  }

  #executionError(cause: Error): TaskExecutionError {
    return new TaskExecutionError(
      `Task failed: ${taskLabel(this.planned.task)}: ${messageOf(cause)}`,
      {
        taskDescription: this.planned.task.description,
        agentRole: this.#currentRole,
        completedTaskOutputs: this.run.completed(),
      },
      { cause, hint: explained(cause) },
    );
  }

  /** Records a task that failed before its first attempt, without an agent or a context. */
  #recordUnbegun(error: Error, isStopped: boolean): void {
    const record = this.#begin(this.#agentNow(), this.#startedMs);
    record.end(this.run.clock.monotonicMs(), isStopped ? "aborted" : "failed", error);
  }

  #identity(): TaskIdentity {
    return this.#ofParent({ taskId: this.planned.id, agentRole: this.#currentRole });
  }

  #ofParent<T extends object>(fields: T): T & Pick<TaskIdentity, "parentTaskId"> {
    const { parentTaskId } = this.extras;
    return parentTaskId === undefined ? fields : { ...fields, parentTaskId };
  }

  /** Returns the fields that the task's start and end events have in common. */
  #place(attempt: number): TaskPlace {
    return this.#ofParent({
      taskId: this.planned.id,
      agentRole: this.#currentRole,
      taskIndex: this.run.indexOf(this.planned.id),
      totalTasks: this.run.plan.tasks.length,
      taskDescription: this.planned.task.description,
      attempt,
    });
  }
}

interface TaskPlace extends TaskIdentity {
  readonly taskIndex: number;
  readonly totalTasks: number;
  readonly taskDescription: string;
  readonly attempt: number;
}

function isStop(reason: AgentEnsembleError | undefined): boolean {
  return RunCancelledError.isInstance(reason) || RunTimeoutError.isInstance(reason);
}
