import type { EnsembleOptions } from "./ensemble-options.js";

/** Options that decide what an ensemble does, and in which order. */
export const SHAPE_OPTIONS = [
  ...(["tasks", "phases", "loops", "graph", "workflow"] as const),
  ...(["parallelErrorStrategy", "maxConcurrency"] as const),
  ...(["managerModel", "managerModelOptions", "managerMaxIterations"] as const),
  ...(["managerPromptStrategy", "hierarchicalConstraints"] as const),
] as const;

/** The key under which derived options keep those that they were made from. */
const ORIGIN = Symbol.for("agentensemble/origin");

type Derived = EnsembleOptions & { readonly [ORIGIN]?: EnsembleOptions };

/**
 * The options of an ensemble that does other tasks under the settings of a given one: model, limits, memory, listeners, kernel. What decides the
 * shape of the given one is left out, and so are `plugins`, which its kernel has. On one kernel both share rate-limit windows and budgets.
 */
export function derivedOptions(
  options: EnsembleOptions,
  changes: Pick<EnsembleOptions, "tasks" | "kernel">,
): EnsembleOptions {
  const left: readonly string[] = [...SHAPE_OPTIONS, "plugins"];
  const kept: EnsembleOptions = Object.fromEntries(
    Object.entries(options).filter(([name]) => !left.includes(name)),
  ); // fields of the same interface, by their names
  return sharingOrigin({ ...kept, ...changes }, options);
}

/** The options that these were derived from, directly or through others; themselves where they were not. */
export function originOf(options: EnsembleOptions): EnsembleOptions {
  return (options as Derived)[ORIGIN] ?? options;
}

/** A copy of options that belongs to the same ensemble as `source`. */
export function sharingOrigin(copy: EnsembleOptions, source: EnsembleOptions): EnsembleOptions {
  const derived: Derived = { ...copy, [ORIGIN]: originOf(source) };
  return derived;
}
