import type { TaskExecutor } from "../../contracts/executors.js";
import type { TaskAnswer, TaskCall } from "../../contracts/hooks.js";
import type { TaskOutput } from "../../contracts/output.js";
import type { PlannedTask } from "../../contracts/plan.js";
import type { HookPair } from "../../kernel/hooks/points.js";
import type { AfterPayload } from "../../kernel/hooks/step.js";
import { type AgentEnsembleError, ValidationError, endsRun } from "../../contracts/errors.js";
import { preview, requireInteger, requireText } from "../../contracts/validation.js";
import { settleWithin } from "../../util/abort/timeouts.js";
import { addRestored } from "../usage/elsewhere.js";
import { FrameStep, type TaskFrame } from "./task-frame.js";
import { FinishedTask } from "./task-output.js";
import { ActiveTaskScope } from "./task-scope.js";
import { type TaskValue, checkResult, valueOf } from "../../contracts/task-value.js";
import { toError } from "../../util/errors.js";

/** An output that a policy refused. Another attempt may follow. */
export class Refused {
  constructor(
    readonly error: AgentEnsembleError,
    readonly raw: string,
  ) {}
}

/** One attempt of a task: its hooks, the executor, the end of its record. */
export class Attempt extends FrameStep<TaskCall, TaskOutput> {
  constructor(
    frame: TaskFrame,
    readonly planned: PlannedTask,
    call: TaskCall,
  ) {
    super(frame, call);
  }

  /** Returns the output or a refusal. @throws the error of a tap or executor; the run's reason. */
  conclude(): TaskOutput | Refused {
    const { result, rejection, afterHookError, earlyExit } = this;
    const { run, record, cancellation } = this.frame;
    const now = run.clock.monotonicMs();
    if (afterHookError !== undefined) {
      const isAborted = cancellation.reason !== undefined || endsRun(afterHookError);
      const thrown: unknown = this.error ?? afterHookError;
      record.end(now, isAborted ? "aborted" : "failed", thrown);
      // The run keeps accepted work that could not be stored or reported, because it caused cost.
      if (this.accepted && result !== undefined) {
        record.output = result;
        run.outputs.set(this.planned.id, result);
      }
      throw thrown;
    }
    if (earlyExit !== undefined) run.stop(earlyExit);
    if (rejection !== undefined) {
      record.end(now, "rejected", rejection);
      return new Refused(rejection, result?.raw ?? "");
    }
    record.end(now, this.outcome, this.error);
    record.output = result;
    if (result === undefined) throw this.error;
    return result;
  }

  get hooks(): HookPair {
    return this.frame.run.points.task;
  }

  work(): Promise<TaskOutput> {
    const executor = this.#executor();
    const executing = executor.execute(this.call, new ActiveTaskScope(this.frame));
    return this.settle(executing).then((result) => {
      checkResult(executor, result);
      const value = valueOf(this.planned, result);
      return value instanceof Promise
        ? value.then((read) => this.#finished(read))
        : this.#finished(value);
    });
  }

  override async fromAnswer(value: unknown): Promise<TaskOutput> {
    const answer = value as TaskAnswer | null | undefined; // checked next
    if (typeof answer?.raw !== "string")
      throw new ValidationError(
        `answer() of beforeTask must return { raw: string }, got: ${preview(answer)}`,
      );
    requireInteger("answer() of beforeTask toolCallCount", answer.toolCallCount, 0);
    const { run, record } = this.frame;
    if (answer.agentRole !== undefined) {
      requireText(answer.agentRole, "answer() of beforeTask agentRole must be a text");
      record.agentRole = answer.agentRole;
    }
    if (answer.calls !== undefined) addRestored(run, record, answer.calls);
    record.restoredToolCalls = answer.toolCallCount;
    return this.#finished(await valueOf(this.planned, answer));
  }

  afterPayload(): AfterPayload {
    const { outcome, result, error, call } = this;
    return result === undefined
      ? { outcome, error: toError(error), ...call }
      : { outcome, output: result, ...call };
  }

  override resultIn({ output }: AfterPayload): TaskOutput {
    return output as TaskOutput; // only the hook's merge changes it
  }

  override settle<T>(work: PromiseLike<T>): Promise<T> {
    const { run, cancellation } = this.frame;
    return settleWithin(work, cancellation, run.limits.graceMs);
  }

  #finished(value: TaskValue): FinishedTask {
    const { run, record } = this.frame;
    return new FinishedTask(record, run.source(this.planned), value, run.clock.monotonicMs());
  }

  #executor(): TaskExecutor {
    const { executors } = this.frame.run;
    for (let i = executors.length - 1; i >= 0; i--) {
      const executor = executors[i];
      if (executor?.handles(this.planned) === true) return executor;
    }
    throw new ValidationError(`No task executor handles task '${this.planned.id}'`, {
      hint: "A kernel without the standard plugins needs its own TaskExecutor.",
    });
  }
}
