import type { ContextFormatter } from "../contracts/context-format.js";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { EnsembleEvent } from "../contracts/events.js";
import type { WorkflowExecutor } from "../contracts/executors.js";
import type { EnsembleOutput, ExitReason, WorkflowResult } from "../contracts/output.js";
import type { RunOptions } from "../contracts/run.js";
import type { ExecutionTrace, TraceExporter } from "../contracts/trace.js";
import type { Awaitable, Inputs } from "../contracts/types.js";
import type { KernelInternals } from "./kernel.js";
import type { PlanDraft } from "./plan.js";
import type { RunParts } from "./run-info.js";
import {
  AgentEnsembleError,
  ExitEarlySignal,
  PluginError,
  RunCancelledError,
  RunTimeoutError,
  TaskTimeoutError,
  messageOf,
} from "../contracts/errors.js";
import { Tokens } from "../contracts/tokens.js";
import { preview } from "../contracts/validation.js";
import { Cancellation, settleWithin } from "./cancellation.js";
import { type ChosenCapture, chooseCapture } from "./capture.js";
import { EngineRun, findWorkflow } from "./engine-run.js";
import { RunEvents } from "./event-hub.js";
import { formatterOf } from "./context-format.js";
import { fireAfter, fireBefore } from "./firing.js";
import { Ledger } from "./ledger.js";
import { createPlan, inferWorkflow } from "./plan.js";
import { ActiveRunInfo, partsOf } from "./run-info.js";
import { FinishedRun, RunOutput } from "./run-output.js";
import { RunRedactor } from "./run-redactor.js";
import { RunView } from "./run-view.js";
import { ActiveRunControl } from "./run-control.js";
import { Settings } from "./settings.js";
import { FinishedTask } from "./task-output.js";
import { ineffectiveOptions } from "./ineffective-options.js";
import { validateRun } from "./validate-run.js";

/** How long exporters and afterRun taps of a run that was stopped may take. */
const FINISH_LIMIT_MS = 30_000;

/** Names that a template variable can't have: who passes them as inputs has mixed up the two arguments. */
const RUN_OPTION_NAMES = ["signal", "timeoutMs", "throwOnError", "bindings"];

/** A run that is asked for. */
export interface RunRequest {
  readonly kernel: KernelInternals;
  readonly options: EnsembleOptions;
  readonly inputs: Inputs;
  readonly runOptions: RunOptions;
  /** Asks for token events whatever the options say. */
  readonly streaming: boolean;
  /** Sees every event of this run. */
  readonly onEvent?: ((event: EnsembleEvent) => void) | undefined;
  /** Called off by `cancel()` of the run's handle. */
  readonly handle: Cancellation;
}

/** What was decided before anything is spent. */
export interface PreparedRun {
  readonly draft: PlanDraft;
  readonly settings: Settings;
  readonly workflow: WorkflowExecutor;
  readonly capture: ChosenCapture;
}

/** Validates and plans; calls no model. @throws ValidationError, PromptTemplateError. */
export function prepareRun(
  kernel: KernelInternals,
  options: EnsembleOptions,
  inputs: Inputs,
  runOptions: RunOptions,
): PreparedRun {
  const settings = new Settings(
    kernel,
    options,
    runOptions.bindings === undefined ? undefined : kernel.bindings.forRun(runOptions.bindings),
  );
  const draft = createPlan(options, inputs);
  const workflow = findWorkflow(settings, inferWorkflow(options));
  validateRun(draft.plan, settings, workflow);
  return { draft, settings, workflow, capture: chooseCapture(settings, runOptions.captureMode) };
}

/** Runs an ensemble from validation to output. @throws the run's error unless `throwOnError` is false. */
export async function executeRun(request: RunRequest): Promise<EnsembleOutput> {
  const { kernel, options, inputs, runOptions } = request;
  await kernel.ready();
  const parent = runOptions.parent === undefined ? undefined : partsOf(runOptions.parent);
  const prepared = prepareRun(kernel, options, inputs, runOptions);
  const run = createRun(
    request,
    prepared,
    parent,
    options.contextFormat === undefined ? undefined : await formatterOf(prepared.settings),
  );
  let finished: () => void = () => undefined;
  const done = new Promise<void>((resolve) => (finished = resolve));
  const end = (): Promise<void> => {
    run.cancellation.cancel(
      new RunCancelledError("The run was cancelled: its kernel was disposed"),
    );
    return done;
  };
  kernel.runs.add(end);
  try {
    return await conduct(run, prepared, request);
  } finally {
    run.close();
    partsOf(run.info).control = undefined; // outputs keep the info, and shall not keep the whole run
    kernel.runs.delete(end);
    finished();
  }
}

function createRun(
  request: RunRequest,
  prepared: PreparedRun,
  parent: RunParts | undefined,
  formatter: ContextFormatter | undefined,
): EngineRun {
  const { kernel, options, inputs, runOptions } = request;
  const { settings, draft } = prepared;
  const clock = settings.get(Tokens.Clock);
  const id = runOptions.runId ?? settings.get(Tokens.IdGenerator).next("run");
  const cancellation = new Cancellation(parent?.cancellation);
  const ledger = new Ledger(parent?.ledger);
  const redactor = new RunRedactor(settings, draft.plan.tasks);
  const events = new RunEvents(id, clock, kernel.hub, redactor);
  const base = { startedAt: clock.startOf?.(id) ?? clock.now(), startedMs: clock.monotonicMs() };
  const parts: RunParts = {
    ledger,
    cancellation,
    events,
    settings,
    parent: runOptions.parent,
    startedAt: base.startedAt,
    redactor,
    control: undefined,
  };
  const info = new ActiveRunInfo(id, inputs, Object.freeze({ ...runOptions.tags }), parts);
  if (request.onEvent !== undefined) events.onAll(request.onEvent);
  for (const listener of [...(options.listeners ?? []), options]) events.onCallbacks(listener);
  const { signal, timeoutMs } = runOptions;
  if (signal !== undefined) cancellation.follow(signal, () => cancelledBy(signal));
  if (timeoutMs !== undefined) cancellation.expire(timeoutMs, () => new RunTimeoutError(timeoutMs));
  request.handle.onCancel(() =>
    cancellation.cancel(request.handle.reason ?? new RunCancelledError("The run was cancelled")),
  );
  const limits = {
    graceMs: runOptions.cancelGraceMs ?? 250,
    maxToolOutputLength: runOptions.maxToolOutputLength ?? options.maxToolOutputLength ?? -1,
    maxDelegationDepth: options.maxDelegationDepth ?? 3,
    toolTimeoutMs: options.toolTimeoutMs,
  };
  const streaming = options.streaming ?? (request.streaming || events.listensTo("token"));
  const run = new EngineRun(
    info,
    draft,
    settings,
    kernel.points,
    events,
    clock,
    ledger,
    cancellation,
    limits,
    { streaming, base, capture: prepared.capture.mode, formatter, redactor },
    (r, plan) => new RunView(r, plan, undefined, true),
  );
  parts.control = new ActiveRunControl(run);
  return run;
}

function cancelledBy(signal: AbortSignal): AgentEnsembleError {
  const { reason } = signal as { readonly reason: unknown };
  if (RunCancelledError.isInstance(reason) || RunTimeoutError.isInstance(reason)) return reason;
  const name = reason instanceof Error ? reason.name : "";
  return new RunCancelledError(
    name === "AbortError" || reason === undefined
      ? "The run was cancelled"
      : `The run was cancelled: ${messageOf(reason)}`,
    {
      cause: reason,
    },
  );
}

interface Ending {
  readonly result: WorkflowResult;
  readonly exitReason: ExitReason;
  readonly error: AgentEnsembleError | undefined;
  /** By a beforeRun tap. */
  readonly rejected?: boolean;
}

const EXIT_REASONS: readonly ExitReason[] = [
  "COMPLETED",
  "USER_EXIT_EARLY",
  "TIMEOUT",
  "CANCELLED",
  "ERROR",
];

async function conduct(
  run: EngineRun,
  prepared: PreparedRun,
  request: RunRequest,
): Promise<EnsembleOutput> {
  const { events, points, warn, info } = run;
  const workflow = prepared.workflow.name;
  if (events.listens("ensemble_started")) {
    events.emit({
      type: "ensemble_started",
      workflow,
      totalTasks: run.plan.tasks.length,
      startedAt: events.now(),
      verbose: run.options.verbose ?? false,
      toolLogTruncateLength:
        request.runOptions.toolLogTruncateLength ?? run.options.toolLogTruncateLength ?? 200,
    });
  }
  if (RUN_OPTION_NAMES.some((name) => Object.hasOwn(info.inputs, name)))
    warn(
      "The inputs look like run options: options are the second argument of run(inputs, options)",
    );
  if (prepared.capture.problem !== undefined) warn(prepared.capture.problem);
  for (const message of ineffectiveOptions(prepared.draft, prepared.workflow.name)) warn(message);
  let ending = await work(run, prepared.workflow);
  let output = assemble(run, workflow, ending);
  if (points.afterRun.used) {
    try {
      const settled =
        ending.error === undefined
          ? { run: info, outcome: "ok" as const, output }
          : { run: info, outcome: outcomeOf(ending), error: attach(ending.error, output) };
      const fired = fireAfter(points.afterRun, settled, warn);
      if (fired instanceof Promise)
        await (run.cancellation.reason === undefined
          ? settleWithin(fired, run.cancellation, FINISH_LIMIT_MS)
          : limited("afterRun", fired));
    } catch (error) {
      if (ending.error !== undefined)
        warn(`afterRun: ${messageOf(error)}`); // the first reason stays
      else
        ending = {
          ...ending,
          ...(AgentEnsembleError.isInstance(error) && error === run.cancellation.reason
            ? endOf(error)
            : { exitReason: "ERROR" as const, error: asOurs(error) }),
        };
      output = assemble(run, workflow, ending);
    }
  }
  await exportTrace(run, output);
  announceEnd(run, ending, output);
  if (ending.error === undefined || request.runOptions.throwOnError === false) return output;
  throw attach(ending.error, output);
}

/** The workflow between beforeRun and its outcome. Whatever it throws, how the run ended is decided here. */
async function work(run: EngineRun, workflow: WorkflowExecutor): Promise<Ending> {
  const { points, cancellation, limits, info, warn } = run;
  try {
    if (points.beforeRun.used) {
      const fired = fireBefore(points.beforeRun, { run: info }, warn);
      const firing =
        fired instanceof Promise ? await settleWithin(fired, cancellation, limits.graceMs) : fired;
      if (firing.rejection !== undefined)
        return { ...stopped(run, firing.rejection), rejected: true };
    }
    if (cancellation.reason !== undefined) throw cancellation.reason;
    // Workflows end when their tasks do, and tasks are abandoned after the grace period; twice that is for workflows that wait for something else.
    const result = await settleWithin(
      workflow.execute(run.plan, run.view),
      cancellation,
      limits.graceMs * 2,
    );
    if (run.cancellation.reason !== undefined) throw run.cancellation.reason; // a workflow may make a result of what was refused
    checkResult(workflow, result);
    const early = run.stopped;
    return {
      result,
      ...(early === undefined
        ? { exitReason: result.exitReason ?? ("COMPLETED" as const), error: undefined }
        : endOf(early)),
    };
  } catch (caught) {
    return stopped(run, caught);
  }
}

function stopped(run: EngineRun, caught: unknown): Ending {
  const taskOutputs = run.completed();
  const result = { raw: taskOutputs.at(-1)?.raw ?? "", taskOutputs };
  const reason =
    run.cancellation.reason ??
    run.stopped ??
    (ExitEarlySignal.isInstance(caught) ? caught : undefined);
  return {
    result,
    ...(reason === undefined
      ? { exitReason: "ERROR" as const, error: asOurs(caught) }
      : endOf(reason)),
  };
}

/** How a run ends that was stopped: an early exit is no failure. */
function endOf(reason: AgentEnsembleError): Pick<Ending, "exitReason" | "error"> {
  if (ExitEarlySignal.isInstance(reason))
    return { exitReason: reason.timedOut ? "TIMEOUT" : "USER_EXIT_EARLY", error: undefined };
  return {
    exitReason: RunTimeoutError.isInstance(reason)
      ? "TIMEOUT"
      : RunCancelledError.isInstance(reason)
        ? "CANCELLED"
        : "ERROR",
    error: reason,
  };
}

/** Errors that are not ours come from a workflow's own code. */
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
    `Workflow '${workflow.name}' must return { raw, taskOutputs } with outputs that runTask() gave it, got: ${preview(result)}`,
    {
      plugin: workflow.name,
      hook: "execute",
    },
  );
}

function outcomeOf(ending: Ending): "rejected" | "failed" | "aborted" {
  if (ending.exitReason !== "ERROR") return "aborted";
  return ending.rejected === true ? "rejected" : "failed";
}

async function limited(what: string, work: Promise<unknown>): Promise<void> {
  const limit = new Cancellation().expire(
    FINISH_LIMIT_MS,
    () => new TaskTimeoutError(what, FINISH_LIMIT_MS),
  );
  try {
    await settleWithin(work, limit, 0);
  } finally {
    limit.dispose();
  }
}

function assemble(run: EngineRun, workflow: string, ending: Ending): RunOutput {
  const record = new FinishedRun(
    run.info,
    workflow,
    run.base,
    run.clock.monotonicMs(),
    ending.exitReason,
    ending.error,
    run.records,
    run.ledger.records,
    run.warnings,
    run.reports,
    run.capture,
    run.formatter?.savings,
    run.traceId,
  );
  return new RunOutput(
    record,
    ending.result,
    { byId: run.outputs, ids: run.ids },
    run.settings.find(Tokens.TraceBuilder),
  );
}

/** Those that are configured; where there are none, the folder of the capture mode. */
function exportersOf({ settings, capture, warn }: EngineRun): readonly TraceExporter[] {
  const exporters = settings.all(Tokens.TraceExporter);
  const { exportsTo } = capture;
  if (exporters.length > 0 || exportsTo === undefined) return exporters;
  const toFolder = settings.find(Tokens.FolderExporter);
  if (toFolder !== undefined) return [(trace) => exportTo(toFolder(exportsTo), trace)];
  warn(
    `Capture mode '${capture.name}' exports to '${capture.exportsTo}', but nothing is bound to Tokens.FolderExporter. Add the standard plugins.`,
  );
  return exporters;
}

function exportTo(exporter: TraceExporter, trace: ExecutionTrace): Awaitable<void> {
  return typeof exporter === "function" ? exporter(trace) : exporter.export(trace);
}

/** Gives the trace to every exporter; a broken or slow one is a warning. */
async function exportTrace(run: EngineRun, output: RunOutput): Promise<void> {
  const exporters = exportersOf(run);
  await Promise.all(
    exporters.map(async (exporter: TraceExporter) => {
      try {
        await limited("it", Promise.resolve(exportTo(exporter, output.trace)));
      } catch (error) {
        run.warn(`A trace exporter failed: ${messageOf(error)}`);
      }
    }),
  );
}

function announceEnd(run: EngineRun, ending: Ending, output: RunOutput): void {
  const { events } = run;
  const { error, exitReason } = ending;
  if (error !== undefined && exitReason === "ERROR" && events.listens("run_failed"))
    events.emit({ type: "run_failed", code: error.code, message: error.message });
  if (!events.listens("ensemble_completed")) return;
  const { totalDurationMs, totalToolCalls, metrics } = output;
  events.emit({
    type: "ensemble_completed",
    exitReason,
    totalDurationMs,
    durationMs: totalDurationMs,
    completedAt: events.now(),
    totalTokens: metrics.totalTokens,
    totalToolCalls,
  });
}

function attach(error: AgentEnsembleError, output: EnsembleOutput): AgentEnsembleError {
  if (Object.isExtensible(error))
    Object.defineProperty(error, "output", {
      value: output,
      enumerable: false,
      configurable: true,
    });
  return error;
}
