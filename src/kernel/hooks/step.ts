import type { Awaitable, Outcome } from "../../contracts/types.js";
import type { Checker } from "./lanes.js";
import type { HookPair } from "./points.js";
import { type AgentEnsembleError, type ExitEarlySignal, endsRun } from "../../contracts/errors.js";
import { toError } from "../../util/errors.js";
import { isThenable } from "../../util/objects.js";
import { Firing } from "./hook-point.js";
import { fireAfter, fireBefore } from "./lanes.js";

/** The payload of an after hook. */
export interface AfterPayload {
  readonly outcome: Outcome;
  readonly [field: string]: unknown;
}

/** Executes work once, between a before and an after hook. `P`: before payload. `R`: result. */
export abstract class Step<P extends object, R> implements Checker<P> {
  outcome: Outcome = "ok";
  /** Absent unless the step was done or answered. Taps of the after hook may replace it. */
  result: R | undefined;
  /** The reason for a missing result. Absent if `check` or `admits` refused the call. */
  error: unknown;
  /** The last stage the step reached: its before taps, an answer, or the work. */
  reached: "hooks" | "answer" | "work" = "hooks";
  /** The error of an after policy that rejected the result. A before policy sets `error`. */
  rejection: AgentEnsembleError | undefined;
  /** The signal of a review that ends the run. The reviewed result is kept. */
  earlyExit: ExitEarlySignal | undefined;
  /** Whether policies and reviews accepted the result. Commit taps then ran. */
  accepted = false;
  /** The error of a tap of the after hook, or of `resultIn`. */
  afterHookError: Error | undefined;

  /** `call` includes the changes of the before taps after they have run. */
  constructor(public call: P) {}

  abstract get hooks(): HookPair;
  abstract get warn(): (message: string) => void;
  /** Returns the reason why work may no longer begin. */
  abstract stopReason(): AgentEnsembleError | undefined;
  check?(changed: P): Awaitable<P | undefined>;
  /** Returns whether the work is possible after changes of the before taps. Default: true. */
  admits?(): boolean;
  abstract work(): Awaitable<R>;
  /** Converts an answer to a result. Only for hooks with an answer lane. */
  fromAnswer?(value: unknown): Awaitable<R>;
  /** Runs once, between the work and the after hook, even without taps. Must not throw. */
  done?(): void;
  /** Must not throw. Returns one literal, new fields first, because V8 extends a copy slowly. */
  abstract afterPayload(): AfterPayload;
  /** Reads the result from the changed payload. Only for hooks with changeable fields. */
  resultIn?(payload: AfterPayload): R;
  /** Limits the time to wait for a hook. */
  settle?<T>(fired: Promise<T>): Promise<T>;
}

/**
 * Takes one step: before hook, work or answer, after hook. The only place that fires hooks.
 * The after hook fires exactly once for each before hook. Never rejects: stores a failure in
 * `error`, and a failure of the after hook in `afterHookError`.
 */
export async function takeStep<P extends object, R>(step: Step<P, R>): Promise<void> {
  const { before, after } = step.hooks;
  const firing = before.used ? new Firing(step.call, step.warn) : undefined;
  try {
    if (firing !== undefined) {
      const fired = fireBefore(before, firing, step);
      if (fired !== undefined) await (step.settle?.(fired) ?? fired);
      step.call = firing.call;
    }
    const pending = begin(step, firing);
    step.result = isThenable(pending) ? await pending : pending;
  } catch (error) {
    fail(step, firing, error);
  }
  step.done?.();
  if (!after.used) return;
  const payload = step.afterPayload();
  const { outcome } = payload;
  const afterFiring = new Firing(payload, step.warn, outcome !== "ok" && outcome !== "answered");
  try {
    const fired = fireAfter(after, afterFiring, outcome);
    if (fired !== undefined) await (step.settle?.(fired) ?? fired);
  } catch (error) {
    step.afterHookError = toError(error);
  }
  storeVerdicts(step, afterFiring, payload);
}

/** Begins the work or the answer. @throws the stop reason, because a tap may have waited long. */
function begin<P extends object, R>(
  step: Step<P, R>,
  firing: Firing<P> | undefined,
): Awaitable<R> | undefined {
  const rejection = firing?.rejection;
  if (firing?.isInvalid === true || rejection !== undefined || step.admits?.() === false) {
    step.outcome = "rejected";
    step.error = rejection;
    return undefined;
  }
  const reason = step.stopReason();
  if (reason !== undefined) throw reason;
  const verdict = firing?.verdict;
  if (verdict?.verb === "answer" && step.fromAnswer !== undefined) {
    step.outcome = "answered";
    step.reached = "answer";
    return step.fromAnswer(verdict.value);
  }
  step.reached = "work";
  return step.work();
}

/** Stores the error of a step without a result. */
function fail<P extends object, R>(
  step: Step<P, R>,
  firing: Firing<P> | undefined,
  error: unknown,
): void {
  if (firing !== undefined) step.call = firing.call; // with the changes made before the failure
  const isAborted = step.stopReason() !== undefined || endsRun(error);
  step.outcome = isAborted ? "aborted" : "failed";
  step.error = error;
}

/** Stores the verdicts of the after taps. */
function storeVerdicts<P extends object, R>(
  step: Step<P, R>,
  afterFiring: Firing<AfterPayload>,
  payload: AfterPayload,
): void {
  step.rejection = afterFiring.rejection;
  step.earlyExit = afterFiring.earlyExit;
  step.accepted = afterFiring.accepted;
  if (afterFiring.call === payload || step.resultIn === undefined) return;
  try {
    step.result = step.resultIn(afterFiring.call);
  } catch (error) {
    step.afterHookError ??= toError(error);
  }
}
