import { createHash } from "node:crypto";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { EnsembleOutput } from "../contracts/output.js";
import type { RunOptions } from "../contracts/run.js";
import type { AnyTask } from "../contracts/task.js";
import type { Inputs } from "../contracts/types.js";
import type { PlanEntry } from "../engine/plan/plan.js";
import type { Kernel, KernelInternals } from "../kernel/kernel.js";
import type { Runner, ServicePorts } from "../service/ports.js";
import { derivedOptions, sharingOrigin } from "../contracts/derived-options.js";
import { Task } from "../contracts/task.js";
import { variablesIn } from "../contracts/template.js";
import { Settings } from "../engine/plan/settings.js";
import { inputFormOf } from "./typed-inputs.js";

const LONGEST_NAME = 64;

/** Some of an ensemble's tasks, and the options of their runs. */
export interface TaskPart {
  readonly tasks: readonly PlanEntry[];
  readonly options: EnsembleOptions;
}

/** The members of an ensemble that the ports of its service use. */
export interface ServedEnsemble {
  readonly options: EnsembleOptions;
  readonly kernel: Kernel;
  readonly internals: KernelInternals;
  readonly run: Runner;
  readonly entries: readonly PlanEntry[];
  /** Runs these tasks instead of the tasks of the ensemble, with these options. */
  readonly runTasks: (
    tasks: TaskPart,
    inputs: Inputs,
    options: RunOptions,
  ) => Promise<EnsembleOutput>;
  /** Creates an ensemble from other options. */
  make(options: EnsembleOptions): { readonly run: Runner };
}

/** Returns the functions of an ensemble for its service. */
export function servicePorts({
  options,
  kernel,
  internals,
  run,
  entries,
  runTasks,
  make,
}: ServedEnsemble): ServicePorts {
  const { inputType: _, ...others } = options; // describes the ensemble's own tasks
  const filled = options.inputs ?? {};
  return {
    options,
    run,
    ready: () => internals.ready(),
    find: (token) => new Settings(internals, options, undefined).find(token),
    all: (token) => new Settings(internals, options, undefined).all(token),
    derive: (shared, tasks) => {
      const name = derivedName(options.name ?? "", shared);
      const ensemble = make(derivedOptions(others, { kernel, tasks, name }));
      return (inputs, o) => ensemble.run(inputs, o);
    },
    entries,
    part: (shared, tasks) => {
      const part = {
        tasks,
        options: partOptions(options, derivedName(options.name ?? "", shared)),
      };
      return (inputs, o) => runTasks(part, inputs, o);
    },
    inputSchema: inputFormOf(options),
    variablesOf: (task) => variablesOf(task).filter((name) => !Object.hasOwn(filled, name)),
  };
}

/**
 * Returns the options of a run of some tasks of an ensemble. Omits options that depend on all
 * tasks.
 */
function partOptions(options: EnsembleOptions, name: string): EnsembleOptions {
  const { reviewPolicy } = options;
  const part: EnsembleOptions = {
    ...options,
    ...{ name, phases: undefined, loops: undefined, graph: undefined, maxConcurrency: undefined },
    workflow: "PARALLEL",
    parallelErrorStrategy: "CONTINUE_ON_ERROR",
    reviewPolicy: reviewPolicy === "AFTER_LAST_TASK" ? undefined : reviewPolicy,
  };
  return sharingOrigin(part, options);
}

/**
 * Returns the ensemble name for runs of a shared task. A journal thus distinguishes them from runs
 * of the ensemble.
 */
function derivedName(ensemble: string, shared: string): string {
  const name = `${ensemble}--${shared}`;
  if (name.length <= LONGEST_NAME) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 16);
  return `${name.slice(0, LONGEST_NAME - hash.length - 1)}-${hash}`;
}

/** Returns the template variables in the texts of a task. */
export function variablesOf(task: AnyTask): readonly string[] {
  if (!task.template) return [];
  const { description, expectedOutput } = Task.promptsOf(task);
  return [description ?? task.description, expectedOutput ?? task.expectedOutput].flatMap((text) =>
    typeof text === "string" ? variablesIn(text) : text.variables,
  );
}
