import type { EnsembleOptions } from "../../../contracts/ensemble-options.js";

/** The options of PARALLEL, and of workflows that run parts of the plan with PARALLEL. */
export const PARALLEL_OPTIONS: readonly (keyof EnsembleOptions)[] = Object.freeze([
  "parallelErrorStrategy",
  "maxConcurrency",
] as const);
