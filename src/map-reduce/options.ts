import type { Agent } from "../contracts/agent.js";
import type { EnsembleOptions } from "../contracts/ensemble-options.js";
import type { AnyTask, Task } from "../contracts/task.js";
import { ValidationError } from "../contracts/errors.js";
import { checkOptions, preview, requireFunction, requireInteger } from "../contracts/validation.js";
import { ENSEMBLE_OPTIONS } from "../ensemble/validation.js";

/** Options of an ensemble that a map-reduce determines from the items. */
const DECIDED = [
  "agents",
  "tasks",
  "phases",
  "loops",
  "graph",
  "workflow",
  "maxDelegationDepth",
  "delegationPolicies",
  "hierarchicalConstraints",
  "managerModel",
  "managerModelOptions",
  "managerMaxIterations",
  "managerPromptStrategy",
  "shareTasks",
  "shareTools",
  "schedules",
] as const;
/** Options of a service. Only a static tree accepts them. */
const SERVED = [
  "spread",
  "shareRun",
  "drainTimeoutMs",
  "maxConcurrentRequests",
  "maxQueuedRequests",
] as const;
const OWN = [
  ...[
    "items",
    "mapAgent",
    "mapTask",
    "reduceAgent",
    "reduceTask",
    "chunkSize",
    "targetTokenBudget",
    "contextWindowSize",
    "budgetRatio",
  ],
  ...["maxReduceLevels", "tokenEstimator", "directAgent", "directTask", "inputEstimator"],
];
const KNOWN = [
  ...OWN,
  ...ENSEMBLE_OPTIONS.filter((name) => !(DECIDED as readonly string[]).includes(name)),
];
const FUNCTIONS = [
  "mapAgent",
  "reduceAgent",
  "directAgent",
  "directTask",
  "tokenEstimator",
  "inputEstimator",
] as const;

/**
 * Options of a map-reduce. The options of an ensemble, except its tasks, are also accepted and
 * apply to all tasks.
 */
export interface MapReduceOptions<I, R> extends Omit<EnsembleOptions, (typeof DECIDED)[number]> {
  /** The items, at least one. */
  readonly items: readonly I[];
  /** Creates the agent that `mapTask` receives, once per item. Default: none. */
  readonly mapAgent?: ((item: I) => Agent) | undefined;
  /**
   * Creates the task of one item. Its texts are used unchanged: `{name}` in them is not a template
   * variable.
   */
  readonly mapTask: (item: I, agent?: Agent) => AnyTask;
  /** Creates the agent that `reduceTask` receives, once per group. Default: none. */
  readonly reduceAgent?: (() => Agent) | undefined;
  /**
   * Creates a task that combines some outputs. All `tasks` must be in its `context`. Its texts are
   * not templates.
   */
  readonly reduceTask: (tasks: readonly AnyTask[], agent?: Agent) => Task<R>;
  /** Static mode: limit of the number of outputs of one reduce, at least 2. Default 5. */
  readonly chunkSize?: number | undefined;
  /**
   * Adaptive mode: limit of the number of tokens of all outputs of one reduce. Not allowed together
   * with `chunkSize`.
   */
  readonly targetTokenBudget?: number | undefined;
  /**
   * Adaptive mode: the context window of the model in tokens. The token budget is this number times
   * `budgetRatio`. An alternative to `targetTokenBudget`.
   */
  readonly contextWindowSize?: number | undefined;
  /**
   * The fraction of the context window that the outputs may use, above 0 and at most 1. Default
   * 0.5.
   */
  readonly budgetRatio?: number | undefined;
  /**
   * Adaptive mode: limit of the number of levels of reduces before the final reduce. Default 10.
   */
  readonly maxReduceLevels?: number | undefined;
  /**
   * Adaptive mode: returns the number of tokens of a text, if the model reported none. Default: a
   * quarter of the number of characters.
   */
  readonly tokenEstimator?: ((text: string) => number) | undefined;
  /** Creates the agent that `directTask` receives. Default: none. */
  readonly directAgent?: (() => Agent) | undefined;
  /**
   * Adaptive mode: creates a single task for all items. Used if the items fit the budget. Its texts
   * are not templates. Default: none.
   */
  readonly directTask?: ((items: readonly I[], agent?: Agent) => Task<NoInfer<R>>) | undefined;
  /**
   * Returns the text of an item, to estimate whether `directTask` can be used. Without
   * `directTask`, it has no effect. Default: a string unchanged, other values as JSON.
   */
  readonly inputEstimator?: ((item: I) => string) | undefined;
}

/**
 * The way to create the reduces. `static`: all before the run, from the number of items.
 * `adaptive`: level by level, from the size of the outputs.
 */
export type Strategy =
  | { readonly kind: "static"; readonly chunkSize: number }
  | { readonly kind: "adaptive"; readonly budget: number; readonly maxReduceLevels: number };

/** Refuses incompatible options and returns the strategy. @throws ValidationError */
export function resolveMapReduceOptions<I, R>(
  o: MapReduceOptions<I, R>,
): { readonly strategy: Strategy; readonly ensemble: EnsembleOptions } {
  checkOptions("MapReduceEnsemble", o, KNOWN);
  if (!Array.isArray(o.items) || o.items.length === 0)
    throw new ValidationError("items must not be null or empty");
  requireFunction("mapTask", o.mapTask ?? null);
  requireFunction("reduceTask", o.reduceTask ?? null);
  for (const name of FUNCTIONS) requireFunction(name, o[name]);
  if (o.directAgent !== undefined && o.directTask === undefined)
    throw new ValidationError("directTask must be set when directAgent is specified");
  const strategy = resolveStrategy(o);
  if (strategy.kind === "static") refuseAdaptiveOptions(o);
  else refuseServedOptions(o);
  const own = new Set(OWN);
  return {
    strategy,
    ensemble: Object.fromEntries(Object.entries(o).filter(([name]) => !own.has(name))),
  };
}

type Limits = Pick<
  MapReduceOptions<unknown, unknown>,
  "chunkSize" | "targetTokenBudget" | "contextWindowSize" | "budgetRatio" | "maxReduceLevels"
>;

function resolveStrategy(o: Limits): Strategy {
  checkLimits(o);
  const budget =
    o.contextWindowSize === undefined
      ? o.targetTokenBudget
      : Math.floor(o.contextWindowSize * (o.budgetRatio ?? 0.5));
  if (budget === undefined) return { kind: "static", chunkSize: o.chunkSize ?? 5 };
  if (o.chunkSize !== undefined) {
    throw new ValidationError(
      "chunkSize and targetTokenBudget are mutually exclusive. Set chunkSize for a tree that is known before the run, or a token budget for one that follows the outputs.",
    );
  }
  if (budget < 1)
    throw new ValidationError(
      `targetTokenBudget must be > 0, got: ${budget}, which is contextWindowSize ${o.contextWindowSize} x budgetRatio ${o.budgetRatio ?? 0.5}`,
    );
  return { kind: "adaptive", budget, maxReduceLevels: o.maxReduceLevels ?? 10 };
}

/** Refuses invalid or contradictory limits. @throws ValidationError */
function checkLimits(o: Limits): void {
  requireInteger("chunkSize", o.chunkSize, 2);
  requireInteger("targetTokenBudget", o.targetTokenBudget, 1, "> 0");
  requireInteger("contextWindowSize", o.contextWindowSize, 1, "> 0");
  requireInteger("maxReduceLevels", o.maxReduceLevels, 1);
  if (
    o.budgetRatio !== undefined &&
    !(typeof o.budgetRatio === "number" && o.budgetRatio > 0 && o.budgetRatio <= 1)
  ) {
    throw new ValidationError(
      `budgetRatio must be in range (0.0, 1.0], got: ${preview(o.budgetRatio)}`,
    );
  }
  if (o.budgetRatio !== undefined && o.contextWindowSize === undefined) {
    throw new ValidationError(
      "contextWindowSize must be set when budgetRatio is specified. Example: { contextWindowSize: 128_000, budgetRatio: 0.5 }",
    );
  }
  if (o.targetTokenBudget !== undefined && o.contextWindowSize !== undefined) {
    throw new ValidationError(
      "targetTokenBudget and contextWindowSize are mutually exclusive. The budget is either given, or derived from the context window.",
    );
  }
}

/**
 * Refuses options of a service in adaptive mode. An adaptive tree depends on its outputs and can't
 * be started as a service.
 */
function refuseServedOptions(o: EnsembleOptions): void {
  const given = SERVED.find((name) => o[name] !== undefined);
  if (given === undefined) return;
  throw new ValidationError(`${given} is not supported in adaptive mode`, {
    hint: "Set chunkSize, and start the ensemble of toEnsemble().",
  });
}

/**
 * Refuses options of adaptive mode in static mode. `inputEstimator` alone is accepted in both
 * modes.
 */
function refuseAdaptiveOptions<I, R>(o: MapReduceOptions<I, R>): void {
  const hint = "Set targetTokenBudget or contextWindowSize for adaptive mode.";
  if (o.directTask !== undefined) {
    throw new ValidationError(
      "directAgent/directTask are not supported in static (chunkSize) mode. The items are only measured in adaptive mode.",
      { hint },
    );
  }
  for (const name of ["tokenEstimator", "maxReduceLevels"] as const) {
    if (o[name] !== undefined)
      throw new ValidationError(`${name} has no effect in static (chunkSize) mode`, { hint });
  }
}
