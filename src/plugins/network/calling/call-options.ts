import type { WorkBudget, WorkPriority } from "../../../contracts/network-options.js";
import type { WorkResponse } from "../../../contracts/network.js";
import type { Awaitable } from "../../../contracts/types.js";
import { ValidationError } from "../../../contracts/errors.js";
import {
  checkOptions,
  preview,
  requireBoolean,
  requireDuration,
  requireFunction,
  requireInteger,
  requireOneOf,
  requireText,
} from "../../../contracts/validation.js";

/** A request of a tool, as `onComplete` receives it. */
export interface NetworkCallInfo {
  readonly requestId: string;
  readonly ensemble: string;
  /** The name of the shared task or tool. */
  readonly name: string;
  /** The run and the task of the caller. Absent for requests outside of a run. */
  readonly runId?: string | undefined;
  readonly taskId?: string | undefined;
}

/** Options for using the result of an earlier request. */
export interface NetworkCallCache {
  /** The key of the result. Requests with the same key share a result. */
  readonly key: string;
  /** Limit of the age of a kept result, in milliseconds. */
  readonly maxAgeMs: number;
  /** Whether to execute the request and replace the kept result. Default false. */
  readonly forceFresh?: boolean | undefined;
}

/** Options of a request to another ensemble. */
export interface NetworkRequestOptions {
  /**
   * Time for which the caller waits, in milliseconds, including repetitions after connection
   * failures. After this time, a tool cancels the request, unless it continues in the background.
   * A request without a run continues. Default: 1,800,000 for tasks, 30,000 for tools.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Time limit of the execution in milliseconds, including its wait in the queue. Default:
   * `timeoutMs` for a tool that waits, otherwise no limit.
   */
  readonly deadlineMs?: number | undefined;
  /** The priority of the request. Default `NORMAL`. */
  readonly priority?: WorkPriority | undefined;
  /** Limits of the usage of the execution. Default: the remaining budget of the run. */
  readonly budget?: WorkBudget | undefined;
  /** The version of the shared task or tool. Default: any. */
  readonly version?: string | undefined;
}

/** Options of `NetworkTask.from()` and `NetworkTool.from()`. */
export interface NetworkCallOptions extends NetworkRequestOptions {
  /**
   * `AWAIT` (default) waits for the result. `ASYNC` returns when the request is accepted, and
   * `onComplete` receives the result. `AWAIT_WITH_DEADLINE` waits for `deadlineMs`, then applies
   * `onDeadline`.
   */
  readonly mode?: "AWAIT" | "ASYNC" | "AWAIT_WITH_DEADLINE" | undefined;
  /**
   * The reaction to the end of `deadlineMs`. `RETURN_TIMEOUT_ERROR` (default) cancels the request
   * and fails. `RETURN_PARTIAL` cancels the request and returns its progress so far.
   * `CONTINUE_IN_BACKGROUND` lets the request continue. `onComplete` receives the result, or a
   * failure after `timeoutMs`, which must be greater than `deadlineMs`.
   */
  readonly onDeadline?:
    "RETURN_TIMEOUT_ERROR" | "RETURN_PARTIAL" | "CONTINUE_IN_BACKGROUND" | undefined;
  /**
   * Called with the result of a request that continues in the background. If it throws, a
   * `run_warning` is emitted.
   */
  readonly onComplete?:
    ((response: WorkResponse, call: NetworkCallInfo) => Awaitable<void>) | undefined;
  /** The description for the model. Default: the description of the shared task or tool. */
  readonly description?: string | undefined;
  /**
   * Returns the options for sharing results between requests. Returns `undefined` for a request
   * that shares no result. Receives the input of the tool. Default: no sharing.
   */
  readonly cache?: ((input: unknown) => NetworkCallCache) | undefined;
  /**
   * The side that answers the reviews of the execution. `theirs` (default): the service. `forward`:
   * the `reviewHandler` or review store of this run. The tool must then wait for its result.
   */
  readonly reviews?: "theirs" | "forward" | undefined;
  /**
   * Whether results may contain instructions for the model. Default false: the model receives
   * results as marked data.
   */
  readonly trusted?: boolean | undefined;
}

const REQUEST_OPTIONS = ["timeoutMs", "deadlineMs", "priority", "budget", "version"];
const CALL_OPTIONS = [
  ...REQUEST_OPTIONS,
  ...["mode", "onDeadline", "onComplete", "description", "cache", "reviews", "trusted"],
];

/** @throws ValidationError for an unknown or invalid option. */
export function checkRequestOptions(
  what: string,
  options: NetworkRequestOptions,
  known: readonly string[] = REQUEST_OPTIONS,
): void {
  checkOptions(what, options, known);
  const { timeoutMs, deadlineMs, priority, version } = options;
  requireDuration(`${what} timeoutMs`, timeoutMs);
  requireDuration(`${what} deadlineMs`, deadlineMs);
  requireOneOf(`${what} priority`, priority, ["CRITICAL", "HIGH", "NORMAL", "LOW"]);
  if (version !== undefined) requireText(version, `${what} version must not be blank`);
  checkBudget(what, options.budget);
}

function checkBudget(what: string, budget: WorkBudget | undefined): void {
  if (budget === undefined) return;
  checkOptions(`${what} budget`, budget, ["maxTokens", "maxCost", "currency"]);
  const { maxTokens, maxCost, currency } = budget;
  requireInteger(`${what} budget.maxTokens`, maxTokens, 1);
  if (maxCost !== undefined && !(Number.isFinite(maxCost) && maxCost > 0))
    throw new ValidationError(
      `${what} budget.maxCost must be a number > 0, got: ${preview(maxCost)}`,
    );
  if (currency !== undefined) requireText(currency, `${what} budget.currency must not be blank`);
}

/**
 * `defaultMs` is the default of `timeoutMs`.
 * @throws ValidationError for an unknown or invalid option, for a mode without a required option,
 * and for a `timeoutMs` without time in the background.
 */
export function checkToolCallOptions(
  what: string,
  options: NetworkCallOptions,
  defaultMs: number,
): void {
  checkRequestOptions(what, options, CALL_OPTIONS);
  const { mode, onDeadline, onComplete, description, cache, trusted } = options;
  requireOneOf(`${what} mode`, mode, ["AWAIT", "ASYNC", "AWAIT_WITH_DEADLINE"]);
  requireOneOf(`${what} onDeadline`, onDeadline, [
    ...["RETURN_TIMEOUT_ERROR", "RETURN_PARTIAL", "CONTINUE_IN_BACKGROUND"],
  ]);
  requireFunction(`${what} onComplete`, onComplete);
  requireFunction(`${what} cache`, cache);
  requireBoolean(`${what} trusted`, trusted);
  if (description !== undefined) requireText(description, `${what} description must not be blank`);
  requireOneOf(`${what} reviews`, options.reviews, ["theirs", "forward"]);
  const isAwaited = mode !== "ASYNC" && onDeadline !== "CONTINUE_IN_BACKGROUND";
  if (options.reviews === "forward" && !isAwaited)
    throw new ValidationError(`${what} reviews 'forward' requires that the tool waits`, {
      hint: "Remove mode ASYNC or onDeadline CONTINUE_IN_BACKGROUND.",
    });
  checkModeOptions(what, options, defaultMs);
}

function checkModeOptions(what: string, options: NetworkCallOptions, defaultMs: number): void {
  const { mode, onDeadline, onComplete, deadlineMs, timeoutMs = defaultMs } = options;
  if (mode === "ASYNC" && onComplete === undefined)
    throw new ValidationError(`${what} with mode ASYNC requires onComplete`, {
      hint: "Without it nothing receives the result.",
    });
  if (mode === "AWAIT_WITH_DEADLINE" && deadlineMs === undefined)
    throw new ValidationError(`${what} with mode AWAIT_WITH_DEADLINE requires deadlineMs`);
  if (mode !== "AWAIT_WITH_DEADLINE" && onDeadline !== undefined)
    throw new ValidationError(`${what} onDeadline requires mode AWAIT_WITH_DEADLINE`);
  if (onComplete !== undefined && mode !== "ASYNC" && onDeadline !== "CONTINUE_IN_BACKGROUND")
    throw new ValidationError(
      `${what} onComplete requires mode ASYNC or onDeadline CONTINUE_IN_BACKGROUND`,
    );
  const isContinued = onDeadline === "CONTINUE_IN_BACKGROUND";
  if (isContinued && deadlineMs !== undefined && deadlineMs >= timeoutMs)
    throw new ValidationError(
      `${what} onDeadline CONTINUE_IN_BACKGROUND requires deadlineMs < timeoutMs, got: ${deadlineMs} and ${timeoutMs}`,
      { hint: "The wait in the background ends at timeoutMs. Set a longer timeoutMs." },
    );
}
