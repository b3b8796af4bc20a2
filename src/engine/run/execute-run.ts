import type { Dag } from "../../contracts/dag.js";
import type { WorkflowExecutor } from "../../contracts/executors.js";
import type { EnsembleOutput } from "../../contracts/output.js";
import type { ActiveRun } from "./active-run.js";
import type { PreparedRun, RunRequest } from "./prepare-run.js";
import type { RunEnd, RunOutput } from "./run-output.js";
import { RunCancelledError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { messageOf } from "../../util/errors.js";
import { formatterOf } from "../gateways/prompt-format.js";
import { createRun } from "./create-run.js";
import { ActiveHookRun } from "./hook-run.js";
import { prepareRun } from "./prepare-run.js";
import { RunStep, attach } from "./run-step.js";
import { exportTrace } from "./trace-export.js";

/** Invalid names of template variables. As inputs, they indicate swapped arguments. */
const RUN_OPTION_NAMES = ["signal", "timeoutMs", "throwOnError", "bindings"];

const TOOL_LOG_LENGTH = 200;

/** Runs an ensemble from validation to output. @throws its error unless `throwOnError` is false. */
export async function executeRun(request: RunRequest): Promise<EnsembleOutput> {
  const { kernel, options, runOptions } = request;
  await kernel.ready();
  const joined =
    runOptions.parent === undefined ? undefined : ActiveHookRun.toJoin(runOptions.parent);
  const prepared = prepareRun(request, joined?.values);
  request.shape.checkModels(prepared.draft.plan, prepared.settings, prepared.workflow);
  const formatter =
    options.contextFormat === undefined ? undefined : await formatterOf(prepared.settings);
  const run = createRun(request, prepared, joined, formatter);
  let finished: () => void = () => undefined;
  const done = new Promise<void>((resolve) => (finished = resolve));
  const end = (): Promise<void> => {
    run.cancellation.cancel(
      new RunCancelledError("The run was cancelled: its kernel was disposed", { isShutdown: true }),
    );
    return done;
  };
  kernel.runs.add(end);
  try {
    return await runBetweenHooks(run, prepared, request);
  } finally {
    run.close();
    ActiveHookRun.detach(run.info);
    kernel.runs.delete(end);
    finished();
  }
}

async function runBetweenHooks(
  run: ActiveRun,
  prepared: PreparedRun,
  request: RunRequest,
): Promise<EnsembleOutput> {
  announceStart(run, prepared.workflow, request);
  warnOfSetup(run, prepared, request);
  const { end, output } = await new RunStep(run, prepared.workflow).take();
  await exportTrace(run, output);
  announceEnd(run, end, output);
  if (end.error === undefined || request.runOptions.throwOnError === false) return output;
  throw attach(end.error, output);
}

function announceStart(run: ActiveRun, workflow: WorkflowExecutor, request: RunRequest): void {
  const { events, options, plan, info } = run;
  const { toolLogTruncateLength = options.toolLogTruncateLength } = request.runOptions;
  if (events.listens("ensemble_started"))
    events.emit({
      type: "ensemble_started",
      workflow: workflow.name,
      totalTasks: plan.tasks.length,
      startedAt: events.now(),
      verbose: options.verbose ?? false,
      toolLogTruncateLength: toolLogTruncateLength ?? TOOL_LOG_LENGTH,
    });
  if (!events.listens("run_planned")) return;
  const { name, description } = options;
  const dag = diagramOf(run, workflow);
  events.emit({
    type: "run_planned",
    ensemble: {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
    },
    inputs: info.inputs,
    tags: info.tags,
    ...(dag !== undefined && { dag }),
  });
}

function diagramOf(
  { plan, settings, warn }: ActiveRun,
  workflow: WorkflowExecutor,
): Dag | undefined {
  try {
    return settings.find(Tokens.PlanDiagram)?.dagOf(plan, workflow);
  } catch (error) {
    warn(`The plan can't be drawn: ${messageOf(error)}`);
    return undefined;
  }
}

function warnOfSetup(
  { info, warn }: ActiveRun,
  prepared: PreparedRun,
  { shape }: RunRequest,
): void {
  if (RUN_OPTION_NAMES.some((name) => Object.hasOwn(info.inputs, name)))
    warn(
      "The inputs look like run options: options are the second argument of run(inputs, options)",
    );
  if (prepared.capture.problem !== undefined) warn(prepared.capture.problem);
  for (const message of shape.warnings(prepared)) warn(message);
}

function announceEnd(run: ActiveRun, end: RunEnd, output: RunOutput): void {
  const { events } = run;
  const { error, exitReason } = end;
  if (error !== undefined && exitReason === "ERROR" && events.listens("run_failed"))
    events.emit({ type: "run_failed", code: error.code, message: error.message });
  if (!events.listens("ensemble_completed")) return;
  const { totalToolCalls, metrics } = output;
  const totalDurationMs = Math.round(output.totalDurationMs);
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
