import type { Inputs } from "../../contracts/types.js";
import type { ExecutionTrace } from "../../contracts/trace.js";
import type { Plugin } from "../../contracts/plugin.js";
import type { RehearsedTeam } from "./rehearse.js";
import { ValidationError } from "../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireFunction,
  requireInteger,
} from "../../contracts/validation.js";

/** The assumed properties of a model call for which there are no measurements in traces. */
export interface SimulatedCall {
  /** Median of the number of output tokens. Default 300. */
  readonly outputTokens?: number | undefined;
  /**
   * Standard deviation of the logarithm of the number of output tokens. With 0, each call has the
   * median. With 0.5, nine of ten calls are between 0.44 and 2.3 times the median. Default 0.5.
   */
  readonly spread?: number | undefined;
  /** Time to the first token in milliseconds. Default 500. */
  readonly firstTokenMs?: number | undefined;
  /** Time per output token in milliseconds. Default 15. */
  readonly msPerOutputToken?: number | undefined;
  /**
   * The text of the answer. For a task with `outputType`, set a text that matches the schema.
   * Default `Simulated answer`.
   */
  readonly text?: string | undefined;
}

/** Options of {@link simulate}. */
export interface SimulateOptions {
  /** Creates the team, with `plugin` in its `plugins`. Called once. */
  readonly team: (plugin: Plugin) => RehearsedTeam;
  /**
   * Traces with measurements: traces of outputs, or paths of `.trace.json` files. Default: none.
   */
  readonly traces?: readonly (string | ExecutionTrace)[] | undefined;
  /** Inputs of the runs. If it is a list, the runs use its items in turn. Default `{}`. */
  readonly inputs?: Inputs | readonly Inputs[] | undefined;
  /** Number of runs. Default 100. */
  readonly runs?: number | undefined;
  /** The seed of the random numbers. With the same seed, the results are the same. Default 1. */
  readonly seed?: number | undefined;
  /** The assumed properties of calls for which there are no measurements in the traces. */
  readonly defaults?: SimulatedCall | undefined;
}

const OPTIONS = ["team", "traces", "inputs", "runs", "seed", "defaults"];
const DEFAULTS = ["outputTokens", "spread", "firstTokenMs", "msPerOutputToken", "text"] as const;

/** @throws ValidationError */
export function checkSimulateOptions(options: SimulateOptions): void {
  checkOptions("simulate", options, OPTIONS);
  const { team, traces, inputs, runs, seed, defaults } = options;
  if (team === undefined) throw new ValidationError("simulate team must be set");
  requireFunction("simulate team", team);
  requireInteger("simulate runs", runs, 1);
  requireInteger("simulate seed", seed, 0);
  if (traces !== undefined && !Array.isArray(traces))
    throw new ValidationError(`simulate traces must be a list, got: ${preview(traces)}`);
  if (Array.isArray(inputs) && inputs.length === 0)
    throw new ValidationError("simulate inputs must not be an empty list");
  if (defaults === undefined) return;
  checkOptions("simulate defaults", defaults, DEFAULTS);
  for (const name of DEFAULTS) {
    const value: unknown = defaults[name];
    if (value === undefined) continue;
    const isValid =
      name === "text"
        ? typeof value === "string"
        : typeof value === "number" && value >= 0 && Number.isFinite(value);
    if (!isValid)
      throw new ValidationError(
        `simulate defaults ${name} must be ${name === "text" ? "a text" : "a number >= 0"}, got: ${preview(value)}`,
      );
  }
}
