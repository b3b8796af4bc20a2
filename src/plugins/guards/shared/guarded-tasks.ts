import type { TaskCall } from "../../../contracts/hooks.js";
import type { EnsembleHooks } from "../../../contracts/hooks.js";
import type { HookRun } from "../../../contracts/run.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  requireArray,
  requireFunction,
  requireText,
} from "../../../contracts/validation.js";
import type { Detector, GuardReport, GuardReporting } from "./findings.js";

/** Tracks the task of each model and tool call. The hooks of these calls do not pass the task. */
export class GuardedTasks {
  readonly #runs = new WeakMap<HookRun, Map<string, TaskCall>>();

  /** Follows the tasks. Call it in `apply`, before the guard's own taps. */
  follow(hooks: EnsembleHooks, name: string): void {
    hooks.beforeTask.tap({ name, lane: "transform", order: "pre" }, (call) => {
      const tasks = this.#runs.get(call.run) ?? new Map<string, TaskCall>();
      this.#runs.set(call.run, tasks.set(call.taskId, call));
    });
  }

  /**
   * Returns the latest attempt of the task. Returns `undefined` while the agent of the task is
   * created.
   */
  find({ run, taskId }: Pick<TaskCall, "run" | "taskId">): TaskCall | undefined {
    return this.#runs.get(run)?.get(taskId);
  }
}

/** Passes a report to `onFinding`. */
export function reportTo(
  { onFinding }: GuardReporting,
  { run, taskId }: Pick<TaskCall, "run" | "taskId">,
  report: Omit<GuardReport, "runId" | "taskId">,
): void {
  onFinding?.({ runId: run.id, taskId, ...report });
}

/** Checks the options object of a guard. @throws ValidationError */
export function checkGuardOptions(
  what: string,
  options: GuardReporting,
  known: readonly string[],
): void {
  checkOptions(what, options, [...known, "onFinding"]);
  requireFunction(`${what} onFinding`, options.onFinding);
}

/**
 * Checks a list of texts.
 * @throws ValidationError unless `value` is absent or an array of texts that are not blank.
 */
export function requireTextList(what: string, value: readonly string[] | undefined): void {
  requireArray(what, value);
  value?.forEach((text, index) =>
    requireText(text, `${what}[${index}] must be text that is not blank`),
  );
}

/**
 * Checks a list of detectors.
 * @throws ValidationError unless `value` is absent or an array of functions.
 */
export function requireDetectors(what: string, value: readonly Detector[] | undefined): void {
  requireArray(what, value);
  value?.forEach((detector: unknown, index) => {
    if (typeof detector !== "function")
      throw new ValidationError(`${what}[${index}] must be a function`);
  });
}
