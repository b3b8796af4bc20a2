import type { ExecutionTrace } from "../../contracts/trace.js";
import { ValidationError } from "../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireBoolean,
  requireOneOf,
  requireText,
} from "../../contracts/validation.js";

/** Options of `replayFrom`. */
export interface ReplayOptions {
  /**
   * The reaction to a request that was not recorded. `"fail"` (default) ends the run with a
   * RecordingMismatchError. `"live"` calls the model or the tool, for this and all following
   * requests of the run.
   */
  readonly onMiss?: "fail" | "live" | undefined;
  /**
   * The reaction to a run with fewer calls than recorded. `"ignore"` is the default. `"warn"` emits
   * a `run_warning`. `"fail"` fails the run.
   */
  readonly onUnused?: "ignore" | "warn" | "fail" | undefined;
  /** Whether traces of replayed runs are exported. Default true. */
  readonly exporters?: boolean | undefined;
}

/** The options with their defaults. */
export interface ReplaySettings {
  readonly onMiss: "fail" | "live";
  readonly onUnused: "ignore" | "warn" | "fail";
  readonly exporters: boolean;
}

const DEFAULTS: ReplaySettings = Object.freeze({
  onMiss: "fail",
  onUnused: "ignore",
  exporters: true,
});

/** @throws ValidationError for an invalid path. */
export function checkFile(what: string, file: unknown): void {
  requireText(file, `${what} must be a path, got: ${preview(file)}`);
}

/** @throws ValidationError for a value that is neither a path nor a trace. */
export function checkSource(source: unknown): void {
  if (typeof source === "string") {
    checkFile("replayFrom source", source);
    return;
  }
  const trace = source as Partial<ExecutionTrace> | null | undefined; // any value is possible
  if (typeof trace === "object" && trace !== null && Array.isArray(trace.taskTraces)) return;
  throw new ValidationError(
    `replayFrom source must be the path of a recording or of a trace, or a trace, got: ${preview(source)}`,
  );
}

/** Applies the defaults. @throws ValidationError for an invalid option. */
export function resolveReplayOptions(options: ReplayOptions): ReplaySettings {
  checkOptions("replayFrom", options, Object.keys(DEFAULTS));
  requireOneOf("replayFrom onMiss", options.onMiss, ["fail", "live"]);
  requireOneOf("replayFrom onUnused", options.onUnused, ["ignore", "warn", "fail"]);
  requireBoolean("replayFrom exporters", options.exporters);
  return Object.freeze({
    exporters: options.exporters ?? DEFAULTS.exporters,
    onMiss: options.onMiss ?? DEFAULTS.onMiss,
    onUnused: options.onUnused ?? DEFAULTS.onUnused,
  });
}
