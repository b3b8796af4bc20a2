import type { EnsembleOptions } from "../../../contracts/ensemble-options.js";

/** Options of PARALLEL, and of workflows that run parts of the plan with it. */
export const PARALLEL_OPTIONS: readonly (keyof EnsembleOptions)[] = Object.freeze([
  "parallelErrorStrategy",
  "maxConcurrency",
] as const);
