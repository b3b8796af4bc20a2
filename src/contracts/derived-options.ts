import type { EnsembleOptions } from "./ensemble-options.js";
import { SERVICE_OPTIONS } from "./service-options.js";

/** Options that determine the tasks of an ensemble, their order, and the shared tasks and tools. */
export const SHAPE_OPTIONS = [
  ...(["tasks", "phases", "loops", "graph", "workflow"] as const),
  ...(["parallelErrorStrategy", "maxConcurrency"] as const),
  ...(["managerModel", "managerModelOptions", "managerMaxIterations"] as const),
  ...(["managerPromptStrategy", "hierarchicalConstraints"] as const),
  ...SERVICE_OPTIONS,
] as const;

/** The key under which derived options keep the options they were made from. */
const ORIGIN = Symbol.for("agentensemble/origin");

type Derived = EnsembleOptions & { readonly [ORIGIN]?: EnsembleOptions };

/**
 * Returns options with other tasks and with the settings of an existing ensemble: model, limits,
 * memory, listeners, kernel. Omits the options that determine the tasks of the existing ensemble.
 * Also omits `plugins`, because its kernel already has them. If both ensembles use one kernel, they
 * share rate-limit windows and budgets.
 */
export function derivedOptions(
  options: EnsembleOptions,
  changes: Pick<EnsembleOptions, "name" | "tasks" | "kernel">,
): EnsembleOptions {
  const left: readonly string[] = [...SHAPE_OPTIONS, "plugins"];
  const kept: EnsembleOptions = Object.fromEntries(
    Object.entries(options).filter(([name]) => !left.includes(name)),
  ); // fields of one interface, by name
  return sharingOrigin({ ...kept, ...changes }, options);
}

/**
 * Returns the options from which derived options were made, through any number of derivations.
 * Returns other options unchanged.
 */
export function originOf(options: EnsembleOptions): EnsembleOptions {
  return (options as Derived)[ORIGIN] ?? options;
}

/** Returns a copy of options, marked as belonging to the same ensemble as `source`. */
export function sharingOrigin(copy: EnsembleOptions, source: EnsembleOptions): EnsembleOptions {
  const derived: Derived = { ...copy, [ORIGIN]: originOf(source) };
  return derived;
}
