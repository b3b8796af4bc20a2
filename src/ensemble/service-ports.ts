import { createHash } from "node:crypto";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { AnyTask } from "../contracts/task.js";
import type { Kernel, KernelInternals } from "../kernel/kernel.js";
import type { Runner, ServicePorts } from "../service/ports.js";
import { derivedOptions } from "../contracts/derived-options.js";
import { Task } from "../contracts/task.js";
import { variablesIn } from "../contracts/template.js";
import { Settings } from "../engine/plan/settings.js";
import { inputFormOf } from "./typed-inputs.js";

const LONGEST_NAME = 64;

/** An ensemble as the ports of its service need it. */
export interface ServedEnsemble {
  readonly options: EnsembleOptions;
  readonly kernel: Kernel;
  readonly internals: KernelInternals;
  readonly run: Runner;
  /** Makes another ensemble. */
  make(options: EnsembleOptions): { readonly run: Runner };
}

/** The ensemble as its service sees it. */
export function servicePorts({
  options,
  kernel,
  internals,
  run,
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
    inputSchema: inputFormOf(options),
    variablesOf: (task) => variablesOf(task).filter((name) => !Object.hasOwn(filled, name)),
  };
}

/** The name of runs of a shared task: a journal must not take them for runs of the ensemble. */
function derivedName(ensemble: string, shared: string): string {
  const name = `${ensemble}--${shared}`;
  if (name.length <= LONGEST_NAME) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 16);
  return `${name.slice(0, LONGEST_NAME - hash.length - 1)}-${hash}`;
}

/** The template variables in the texts of a task. */
export function variablesOf(task: AnyTask): readonly string[] {
  if (!task.template) return [];
  const { description, expectedOutput } = Task.promptsOf(task);
  return [description ?? task.description, expectedOutput ?? task.expectedOutput].flatMap((text) =>
    typeof text === "string" ? variablesIn(text) : text.variables,
  );
}
