import type { WorkflowExecutor } from "../../contracts/executors.js";
import type { RunCall } from "../../contracts/hooks.js";
import type { EnsembleOutput, ExitReason, WorkflowResult } from "../../contracts/output.js";
import type { HookPair } from "../../kernel/hooks/points.js";
import type { AfterPayload } from "../../kernel/hooks/step.js";
import type { ActiveRun } from "./active-run.js";
import type { RunEnd } from "./run-output.js";
import {
  AgentEnsembleError,
  ExitEarlySignal,
  PluginError,
  RunCancelledError,
  RunSuspendedError,
  RunTimeoutError,
  endsRun,
} from "../../contracts/errors.js";
import { preview } from "../../contracts/validation.js";
import { Step, takeStep } from "../../kernel/hooks/step.js";
import { settleWithin } from "../../util/abort/timeouts.js";
import { FinishedTask } from "../tasks/task-output.js";
import { RunOutput } from "./run-output.js";
import { FINISH_LIMIT_MS, finishWithin } from "./trace-export.js";
import { messageOf } from "../../util/errors.js";

/** The end of the run, with its output. */
interface StepEnd {
  readonly end: RunEnd;
  readonly output: RunOutput;
}

const EXIT_REASONS: readonly ExitReason[] = [
  "COMPLETED",
  "USER_EXIT_EARLY",
  "TIMEOUT",
  "CANCELLED",
  "SUSPENDED",
  "ERROR",
];

/** The step of a run. Its work is the workflow. */
export class RunStep extends Step<RunCall, WorkflowResult> {
  readonly #run: ActiveRun;
  readonly #workflow: WorkflowExecutor;
  #ended: StepEnd | undefined;

  constructor(run: ActiveRun, workflow: WorkflowExecutor) {
    super({ run: run.info });
    this.#run = run;
    this.#workflow = workflow;
  }

  /** Runs the workflow between its hooks. Never rejects. */
  async take(): Promise<StepEnd> {
    await takeStep(this);
    const { afterHookError: error } = this;
    const { end, output } = this.#done();
    if (error === undefined) return { end, output };
    if (end.error === undefined) return this.#assembled({ ...end, ...this.#failedEnd(error) });
    this.warn(`afterRun: ${messageOf(error)}`); // the first reason is kept
    return this.#assembled(end);
  }

  get hooks(): HookPair {
    return this.#run.points.run;
  }

  get warn(): (message: string) => void {
    return this.#run.warn;
  }

  stopReason(): AgentEnsembleError | undefined {
    return this.#run.cancellation.reason;
  }

  /** Runs the workflow. {@link done} decides how the run ended, even if the workflow throws. */
  async work(): Promise<WorkflowResult> {
    const { cancellation, limits, plan, view } = this.#run;
    // Tasks end within one grace period. Workflows that wait for other work have a second period.
    const result = await settleWithin(
      this.#workflow.execute(plan, view),
      cancellation,
      limits.graceMs * 2,
    );
    if (cancellation.reason !== undefined) throw cancellation.reason; // also after a stop
    checkResult(this.#workflow, result);
    return result;
  }

  override done(): void {
    this.#ended = this.#assembled(runEndOf(this.#run, this));
  }

  afterPayload(): AfterPayload {
    const { outcome, call } = this;
    const { end, output } = this.#done();
    if (end.error === undefined) return { outcome: "ok", output, ...call };
    const failed = outcome === "rejected" ? "rejected" : "failed";
    return {
      outcome: end.exitReason === "ERROR" ? failed : "aborted",
      error: attach(end.error, output),
      ...call,
    };
  }

  override settle<T>(fired: Promise<T>): Promise<T> {
    const { cancellation, limits } = this.#run;
    if (this.#ended === undefined) return settleWithin(fired, cancellation, limits.graceMs);
    return cancellation.reason === undefined
      ? settleWithin(fired, cancellation, FINISH_LIMIT_MS)
      : finishWithin("afterRun", fired);
  }

  /** Returns the end of a completed run whose after hook failed. */
  #failedEnd(error: Error): Pick<RunEnd, "exitReason" | "error"> {
    return AgentEnsembleError.isInstance(error) && error === this.#run.cancellation.reason
      ? endOf(error)
      : { exitReason: "ERROR", error: asOurs(error) };
  }

  #assembled(end: RunEnd): StepEnd {
    return { end, output: new RunOutput(this.#run, this.#workflow.name, end) };
  }

  #done(): StepEnd {
    return this.#ended as StepEnd; // done() runs before the after hook
  }
}

function runEndOf(run: ActiveRun, { result, error }: RunStep): RunEnd {
  if (result !== undefined) {
    const early = run.stopped;
    return early === undefined
      ? { result, exitReason: result.exitReason ?? "COMPLETED", error: undefined }
      : { result, ...endOf(early) };
  }
  const taskOutputs = run.completed();
  const partial = { raw: taskOutputs.at(-1)?.raw ?? "", taskOutputs };
  const reason = run.cancellation.reason ?? run.stopped ?? (endsRun(error) ? error : undefined);
  return reason === undefined
    ? { result: partial, exitReason: "ERROR", error: asOurs(error) }
    : { result: partial, ...endOf(reason) };
}

/** Returns the end of a stopped run. An early exit is not a failure. */
function endOf(reason: AgentEnsembleError): Pick<RunEnd, "exitReason" | "error"> {
  if (ExitEarlySignal.isInstance(reason))
    return { exitReason: reason.timedOut ? "TIMEOUT" : "USER_EXIT_EARLY", error: undefined };
  return {
    exitReason: RunTimeoutError.isInstance(reason)
      ? "TIMEOUT"
      : RunSuspendedError.isInstance(reason)
        ? "SUSPENDED"
        : RunCancelledError.isInstance(reason)
          ? "CANCELLED"
          : "ERROR",
    error: reason,
  };
}

/** Wraps an error of another class that a workflow threw. */
function asOurs(error: unknown): AgentEnsembleError {
  if (AgentEnsembleError.isInstance(error)) return error;
  return new PluginError(
    `The workflow failed: ${messageOf(error)}`,
    { plugin: "workflow", hook: "execute" },
    { cause: error },
  );
}

function checkResult(workflow: WorkflowExecutor, result: unknown): void {
  const { raw, taskOutputs, exitReason } = (result ?? {}) as {
    readonly raw?: unknown;
    readonly taskOutputs?: unknown;
    readonly exitReason?: unknown;
  };
  const outputs =
    Array.isArray(taskOutputs) && taskOutputs.every((output) => output instanceof FinishedTask);
  if (
    typeof raw === "string" &&
    outputs &&
    (exitReason === undefined || EXIT_REASONS.includes(exitReason as ExitReason))
  )
    return;
  throw new PluginError(
    `Workflow '${workflow.name}' must return { raw, taskOutputs } with outputs of runTask(), got: ${preview(result)}`,
    { plugin: workflow.name, hook: "execute" },
  );
}

/** Returns the error with the partial output. */
export function attach(error: AgentEnsembleError, output: EnsembleOutput): AgentEnsembleError {
  if (Object.isExtensible(error))
    Object.defineProperty(error, "output", {
      value: output,
      enumerable: false,
      configurable: true,
    });
  return error;
}
