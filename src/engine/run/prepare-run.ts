import type { AgentEnsembleError } from "../../contracts/errors.js";
import type { EnsembleOptions } from "../../contracts/ensemble-options.js";
import type { EnsembleEvent } from "../../contracts/events.js";
import type { WorkflowExecutor } from "../../contracts/executors.js";
import type { Plan } from "../../contracts/plan.js";
import type { RunOptions } from "../../contracts/run.js";
import type { Inputs } from "../../contracts/types.js";
import type { KernelInternals } from "../../kernel/kernel.js";
import type { Cancellation } from "../../util/abort/cancellation.js";
import type { ChosenCapture } from "../../contracts/capture-choice.js";
import type { PlanDraft, PlanEntry } from "../plan/plan.js";
import { chooseCapture } from "../../contracts/capture-choice.js";
import { valuesByToken } from "../../contracts/run-value.js";
import { createPlan } from "../plan/plan.js";
import { Settings } from "../plan/settings.js";

/** The data of an ensemble for the engine. */
export interface EnsembleShape {
  readonly entries: readonly PlanEntry[];
  /** The name of the workflow. */
  readonly workflow: string;
  /** Checks plan, kernel and options together. @throws ValidationError */
  validate(plan: Plan, settings: Settings, workflow: WorkflowExecutor): void;
  /** Refuses models that can't be called. `explain()` skips this. @throws ValidationError */
  checkModels(plan: Plan, settings: Settings, workflow: WorkflowExecutor): void;
  /** Returns messages about options without effect in this run. */
  warnings(prepared: PreparedRun): readonly string[];
}

/** A request to run an ensemble. */
export interface RunRequest {
  readonly kernel: KernelInternals;
  readonly options: EnsembleOptions;
  readonly shape: EnsembleShape;
  readonly inputs: Inputs;
  readonly runOptions: RunOptions;
  /** Requests token events regardless of the options. */
  readonly streaming: boolean;
  /** Receives every event of this run. */
  readonly onEvent?: ((event: EnsembleEvent) => void) | undefined;
  /** Cancelled by `cancel()` of the run's handle. */
  readonly handle: Cancellation<AgentEnsembleError>;
}

/** The outcome of validation and planning, before any spending. */
export interface PreparedRun {
  readonly draft: PlanDraft;
  readonly settings: Settings;
  readonly workflow: WorkflowExecutor;
  readonly capture: ChosenCapture;
}

/** Validates and plans. Calls no model. @throws ValidationError, PromptTemplateError. */
export function prepareRun(
  {
    kernel,
    options,
    shape,
    inputs,
    runOptions,
  }: Pick<RunRequest, "kernel" | "options" | "shape" | "inputs" | "runOptions">,
  inherited?: ReadonlyMap<unknown, unknown>,
): PreparedRun {
  const settings = new Settings(
    kernel,
    options,
    runOptions.bindings === undefined ? undefined : kernel.bindings.forRun(runOptions.bindings),
    runOptions.values === undefined ? inherited : valuesByToken(runOptions.values, inherited),
  );
  const draft = createPlan(options, shape.entries, inputs);
  const workflow = settings.workflow(shape.workflow);
  shape.validate(draft.plan, settings, workflow);
  return { draft, settings, workflow, capture: chooseCapture(settings, runOptions.captureMode) };
}
