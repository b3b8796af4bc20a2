import type { Agent } from "../contracts/agent.js";
import type { TaskExecutor } from "../contracts/executors.js";
import type { TaskCall } from "../contracts/hooks.js";
import type { TaskOutput } from "../contracts/output.js";
import type { PlannedTask } from "../contracts/plan.js";
import type { Revision, TaskExtras } from "../contracts/run.js";
import type { Outcome } from "../contracts/usage.js";
import type { EngineRun } from "./engine-run.js";
import type { AgentEnsembleError } from "../contracts/errors.js";
import {
  ExitEarlySignal,
  RunCancelledError,
  RunTimeoutError,
  TaskExecutionError,
  TaskTimeoutError,
  ValidationError,
  messageOf,
  toError,
} from "../contracts/errors.js";
import { preview } from "../contracts/validation.js";
import { agentOf } from "./agent-resolution.js";
import { Cancellation, settleWithin } from "./cancellation.js";
import { checkPriority } from "./delegation-request.js";
import { fireAfter, fireBefore } from "./firing.js";
import { FinishedTask } from "./task-output.js";
import { TaskRecordState } from "./task-record.js";
import { GatewayScope } from "./task-scope.js";
import { checkResult, explained, feedbackOf, valueOf } from "./task-value.js";

const NO_SECTIONS: TaskCall["promptSections"] = Object.freeze([]);
const NO_OUTPUTS: readonly TaskOutput[] = Object.freeze([]);

const always = (): boolean => true;

/** An output that a policy refused, and that may be done again. */
class Refused {
  constructor(
    readonly error: AgentEnsembleError,
    readonly raw: string,
  ) {}
}

/**
 * Does one task: agent, hooks, executor, retries after a refused output, record and events.
 * @throws TaskExecutionError whose cause is the specific error; the run's own reason when it was stopped.
 */
export function runTask(
  run: EngineRun,
  taskId: string,
  extras: TaskExtras = {},
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
  readonly #cancellation: Cancellation;
  readonly #depth: number;
  readonly #taskIndex: number;
  #record: TaskRecordState | undefined;
  #announced = false;
  #startedMs = 0;
  #role: string;

  constructor(
    readonly run: EngineRun,
    readonly planned: PlannedTask,
    readonly extras: TaskExtras,
  ) {
    const shared = run.cancellationFor(extras.signal);
    const { timeoutMs } = planned.spec;
    this.#cancellation =
      timeoutMs === undefined
        ? shared
        : new Cancellation(shared).expire(
            timeoutMs,
            () => new TaskTimeoutError(`Task '${planned.spec.description}'`, timeoutMs),
          );
    this.#depth = extras.depth ?? 0;
    this.#taskIndex = run.indexOf(planned.id);
    this.#role =
      planned.spec.handler !== undefined
        ? "(deterministic)"
        : ((extras.agent ?? planned.agent)?.role ?? "(synthesized)");
  }

  async perform(): Promise<TaskOutput> {
    const { run, planned } = this;
    const stopped = run.stopped ?? this.#cancellation.reason;
    try {
      if (stopped !== undefined) throw stopped;
      this.#startedMs = run.clock.monotonicMs();
      const contextOutputs = this.#contextOutputs();
      const agent =
        this.#agentNow() ??
        (planned.spec.handler === undefined
          ? await this.#settle(agentOf(run, planned, this.extras.parentTaskId))
          : undefined);
      if (agent !== undefined) this.#role = agent.role;
      this.#announce();
      const output = await this.#attempts(agent, contextOutputs);
      run.outputs.set(planned.id, output);
      if (this.#record?.heldTokens !== undefined)
        this.#release(this.#record, this.#record.heldTokens, output.raw);
      this.#completed(output);
      return output;
    } catch (error) {
      if (error === stopped) throw error;
      throw this.#failed(error);
    } finally {
      if (this.#cancellation !== run.cancellation && planned.spec.timeoutMs !== undefined)
        this.#cancellation.dispose();
    }
  }

  /** Does the task until its output is accepted or the retries are used up. */
  async #attempts(
    agent: Agent | undefined,
    contextOutputs: readonly TaskOutput[],
  ): Promise<TaskOutput> {
    const { run, planned, extras } = this;
    let revision: Revision | undefined = extras.revision;
    let retries = planned.spec.guardrailRetries;
    let toolCallCount = 0;
    for (let attempt = extras.attempt ?? (run.attempts.get(planned.id) ?? 0) + 1; ; attempt++) {
      this.#checkGoing();
      run.attempts.set(planned.id, attempt);
      const previous: TaskRecordState | undefined = this.#record;
      const record = new TaskRecordState(
        run.base,
        planned.id,
        extras.parentTaskId,
        attempt,
        planned.spec,
        agent,
        this.#role,
        run.clock.monotonicMs(),
        previous,
        planned.mapReduce,
      );
      this.#record = record;
      run.records.push(record);
      const call: TaskCall = {
        run: run.info,
        taskId: planned.id,
        task: planned.spec,
        agent,
        contextOutputs,
        promptSections: NO_SECTIONS,
        attempt,
        revision,
        parentTaskId: extras.parentTaskId,
        isLast: this.#isLast(),
        signal: this.#cancellation.signal,
      };
      const result = await this.#attempt(call, record, toolCallCount);
      if (!(result instanceof Refused)) return result;
      if (retries-- <= 0 || this.#cancellation.reason !== undefined) throw result.error;
      toolCallCount += record.metrics.toolCallCount;
      revision = { feedback: feedbackOf(result.error), previousOutput: result.raw };
    }
  }

  #isLast(): TaskCall["isLast"] {
    const { last, parentTaskId } = this.extras;
    if (last === false || typeof last === "function") return last === false ? undefined : last;
    return last === true ||
      (parentTaskId === undefined && this.run.plan.tasks.at(-1) === this.planned)
      ? always
      : undefined;
  }

  /** One attempt: the hook pair around the executor. */
  async #attempt(
    call: TaskCall,
    record: TaskRecordState,
    toolCallsBefore: number,
  ): Promise<TaskOutput | Refused> {
    const { points, warn } = this.run;
    let current = call;
    let outcome: Outcome = "ok";
    let output: TaskOutput | undefined;
    let failure: unknown;
    try {
      let answer: { readonly raw: string; readonly parsed?: unknown } | undefined;
      if (points.beforeTask.used) {
        const fired = fireBefore(points.beforeTask, call, warn);
        const firing = fired instanceof Promise ? await this.#settle(fired) : fired;
        current = firing.call;
        if (firing.rejection !== undefined) throw new Rejection(firing.rejection);
        if (firing.verdict?.verb === "answer")
          answer = firing.verdict.value as { readonly raw: string }; // the lane's type; checked below
      }
      this.#checkGoing(); // a tap may have waited long
      if (answer !== undefined) outcome = "answered";
      output =
        answer === undefined
          ? await this.#execute(current, record, toolCallsBefore)
          : await this.#fromAnswer(answer, record);
    } catch (error) {
      outcome =
        error instanceof Rejection
          ? "rejected"
          : this.#cancellation.reason !== undefined || ExitEarlySignal.isInstance(error)
            ? "aborted"
            : "failed";
      failure = error instanceof Rejection ? error.error : error;
    }
    return this.#settleAttempt(current, record, outcome, output, failure);
  }

  async #settleAttempt(
    call: TaskCall,
    record: TaskRecordState,
    outcome: Outcome,
    output: TaskOutput | undefined,
    failure: unknown,
  ): Promise<TaskOutput | Refused> {
    const { points, warn } = this.run;
    let result = output;
    let accepted: TaskOutput | undefined;
    try {
      if (points.afterTask.used) {
        const settled =
          result === undefined
            ? { outcome, error: toError(failure), ...call }
            : { outcome, output: result, ...call }; // new fields first: V8 is slow to add any to a copy
        const fired = fireAfter(
          points.afterTask,
          settled,
          warn,
          (done) => void (accepted = (done as { readonly output?: TaskOutput }).output),
        );
        const firing = fired instanceof Promise ? await this.#settle(fired) : fired;
        if (result !== undefined) result = (firing.call as { readonly output: TaskOutput }).output; // only revised by our own merge
        if (firing.exit !== undefined) this.run.stop(firing.exit);
        if (firing.rejection !== undefined) {
          this.#end(record, "rejected", undefined, firing.rejection);
          return new Refused(firing.rejection, result?.raw ?? "");
        }
      }
    } catch (error) {
      const aborted = this.#cancellation.reason !== undefined || ExitEarlySignal.isInstance(error);
      // What could not be stored or reported was done all the same, and is paid for: the run keeps it.
      if (accepted !== undefined) this.run.outputs.set(this.planned.id, accepted);
      this.#end(
        record,
        aborted ? "aborted" : "failed",
        accepted,
        result === undefined ? failure : error,
      );
      throw result === undefined ? failure : error;
    }
    this.#end(record, outcome, result, failure);
    if (result === undefined) throw failure;
    return result;
  }

  #end(
    record: TaskRecordState,
    outcome: Outcome,
    output: TaskOutput | undefined,
    error: unknown,
  ): void {
    record.endedMs = this.run.clock.monotonicMs();
    record.outcome = outcome;
    record.output = output;
    record.error = error === undefined ? undefined : toError(error);
  }

  async #execute(
    call: TaskCall,
    record: TaskRecordState,
    toolCallsBefore: number,
  ): Promise<TaskOutput> {
    const { run, planned } = this;
    const executor = this.#executor();
    const scope = new GatewayScope(
      run,
      record,
      this.#cancellation,
      this.#depth,
      this.#taskIndex,
      this.extras.priority,
    );
    const result = await this.#settle(executor.execute(call, scope));
    checkResult(executor, result);
    const read = valueOf(planned, result);
    const value = read instanceof Promise ? await read : read;
    return new FinishedTask(
      record,
      run.source(planned),
      value,
      toolCallsBefore + result.toolCallCount,
      run.clock.monotonicMs(),
    );
  }

  async #fromAnswer(
    answer: { readonly raw: string; readonly parsed?: unknown },
    record: TaskRecordState,
  ): Promise<TaskOutput> {
    const { run, planned } = this;
    if (typeof answer.raw !== "string")
      throw new ValidationError(
        `answer() of beforeTask must give { raw: string }, got: ${preview(answer)}`,
      );
    return new FinishedTask(
      record,
      run.source(planned),
      await valueOf(planned, answer),
      0,
      run.clock.monotonicMs(),
    );
  }

  /** @throws the reason of the end: no step starts after it. */
  #checkGoing(): void {
    if (this.#cancellation.reason !== undefined) throw this.#cancellation.reason;
  }

  #settle<T>(work: PromiseLike<T>): Promise<T> {
    return settleWithin(work, this.#cancellation, this.run.limits.graceMs);
  }

  #executor(): TaskExecutor {
    const { executors } = this.run;
    for (let i = executors.length - 1; i >= 0; i--) {
      const executor = executors[i];
      if (executor?.handles(this.planned) === true) return executor;
    }
    throw new ValidationError(`No task executor handles task '${this.planned.spec.description}'`, {
      hint: "A kernel without the standard plugins needs a TaskExecutor of its own.",
    });
  }

  #contextOutputs(): readonly TaskOutput[] {
    if (this.extras.contextOutputs !== undefined) return this.extras.contextOutputs;
    const { contextIds, spec } = this.planned;
    if (contextIds.length === 0) return NO_OUTPUTS;
    return contextIds.map((id) => {
      const output = this.run.outputs.get(id);
      if (output !== undefined) return output;
      throw new ValidationError(
        `Context task not yet completed: ${this.run.planned(id).spec.description}`,
        {
          hint: `Task '${spec.description}' needs its output; run it first.`,
        },
      );
    });
  }

  #agentNow(): Agent | undefined {
    const { spec, agent } = this.planned;
    return spec.handler !== undefined ? undefined : (this.extras.agent ?? agent);
  }

  #announce(): void {
    this.#announced = true;
    const { events, plan } = this.run;
    if (!events.listens("task_started")) return;
    events.emit({
      type: "task_started",
      ...this.#identity(),
      taskIndex: this.#taskIndex,
      totalTasks: plan.tasks.length,
      taskDescription: this.planned.spec.description,
      startedAt: events.now(),
      verbose: this.run.options.verbose === true || this.planned.agent?.verbose === true,
    });
  }

  /** Hands out the tokens that were held back until the output was accepted; of one that was changed since the model wrote it, the text in one piece. */
  #release(record: TaskRecordState, held: readonly string[], raw: string): void {
    record.heldTokens = undefined;
    const tokens = held.join("") === raw ? held : [raw];
    for (const token of tokens)
      this.run.events.emit({
        type: "token",
        ...this.#identity(),
        token,
        taskDescription: this.planned.spec.description,
      });
  }

  #completed(output: TaskOutput): void {
    const { events, plan } = this.run;
    if (!events.listens("task_completed")) return;
    events.emit({
      type: "task_completed",
      ...this.#identity(),
      taskIndex: this.#taskIndex,
      totalTasks: plan.tasks.length,
      taskDescription: output.taskDescription,
      startedAt: (this.#record as TaskRecordState).wallClock(this.#startedMs).toISOString(), // a completed task has a record
      completedAt: output.completedAt.toISOString(),
      durationMs: output.durationMs,
      toolCallCount: output.toolCallCount,
      tokenCount: output.metrics.totalTokens,
      taskOutput: output,
    });
  }

  /** The error that leaves the task: the run's reason when it was stopped, else a TaskExecutionError. */
  #failed(error: unknown): AgentEnsembleError {
    const { run, planned } = this;
    if (!this.#announced) this.#announce();
    if (ExitEarlySignal.isInstance(error)) run.stop(error);
    const stopping =
      ExitEarlySignal.isInstance(error) ||
      (this.#cancellation.reason !== undefined && isStop(this.#cancellation.reason));
    const cause = stopping
      ? (this.#cancellation.reason ?? (error as AgentEnsembleError))
      : toError(error);
    if (this.#record === undefined) this.#recordUnbegun(cause, stopping);
    const description = planned.spec.description;
    const failure = stopping
      ? (cause as AgentEnsembleError) // a reason or a signal of ours
      : new TaskExecutionError(
          `Task failed: ${description}`,
          {
            taskDescription: description,
            agentRole: this.#role,
            completedTaskOutputs: run.completed(),
          },
          { cause, hint: explained(cause) },
        );
    const { events, plan, clock } = run;
    if (events.listens("task_failed")) {
      events.emit({
        type: "task_failed",
        ...this.#identity(),
        taskIndex: this.#taskIndex,
        totalTasks: plan.tasks.length,
        taskDescription: description,
        failedAt: events.now(),
        durationMs: clock.monotonicMs() - this.#startedMs,
        reason: messageOf(cause),
        cause: failure,
      });
    }
    return failure;
  }

  /** A task that failed before its first attempt (no agent could be made, a context is missing) stands in the record all the same. */
  #recordUnbegun(error: Error, stopped: boolean): void {
    const { run, planned, extras } = this;
    const attempt = extras.attempt ?? (run.attempts.get(planned.id) ?? 0) + 1;
    const { spec: task, mapReduce } = planned;
    const record = new TaskRecordState(
      run.base,
      planned.id,
      extras.parentTaskId,
      attempt,
      task,
      this.#agentNow(),
      this.#role,
      this.#startedMs,
      undefined,
      mapReduce,
    );
    record.endedMs = run.clock.monotonicMs();
    record.outcome = stopped ? "aborted" : "failed";
    record.error = error;
    run.records.push(record);
  }

  #identity(): {
    readonly taskId: string;
    readonly agentRole: string;
    readonly parentTaskId?: string;
  } {
    const { parentTaskId } = this.extras;
    return parentTaskId === undefined
      ? { taskId: this.planned.id, agentRole: this.#role }
      : { taskId: this.planned.id, parentTaskId, agentRole: this.#role };
  }
}

/** A before policy's no, on its way to the outcome. */
class Rejection extends Error {
  constructor(readonly error: AgentEnsembleError) {
    super(error.message);
  }
}

function isStop(error: AgentEnsembleError): boolean {
  return RunCancelledError.isInstance(error) || RunTimeoutError.isInstance(error);
}
