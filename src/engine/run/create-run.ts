import type { ContextFormatter } from "../../contracts/context-format.js";
import type { AgentEnsembleError } from "../../contracts/errors.js";
import type { RunLimits, RunViews } from "./active-run.js";
import type { JoinedRun } from "./hook-run.js";
import type { PreparedRun, RunRequest } from "./prepare-run.js";
import { RunCancelledError, RunTimeoutError } from "../../contracts/errors.js";
import { Tokens } from "../../contracts/tokens.js";
import { redactorOfMode } from "../../contracts/redaction.js";
import { Cancellation } from "../../util/abort/cancellation.js";
import { Ledger } from "../usage/ledger.js";
import { ActiveRun } from "./active-run.js";
import { ActiveHookRun } from "./hook-run.js";
import { RunEvents } from "./run-events.js";
import { RunRedactor } from "./run-redactor.js";
import { WorkflowRun } from "./workflow-run.js";
import { messageOf } from "../../util/errors.js";

/** Grace period in ms for work that ignores its signal after a stop. */
const GRACE_MS = 250;
const DELEGATION_DEPTH = 3;
const NO_LIMIT = -1;

const VIEWS: RunViews = {
  hookRun: (run, parts) => new ActiveHookRun(parts, run),
  workflowRun: (run) => new WorkflowRun(run, run.plan, undefined, true),
};

/** Creates a run: starts its clock, subscribes its listeners and applies its limits. */
export function createRun(
  request: RunRequest,
  { draft, settings, capture }: PreparedRun,
  joined: JoinedRun | undefined,
  formatter: ContextFormatter | undefined,
): ActiveRun {
  const { kernel, options, inputs, runOptions } = request;
  const clock = settings.get(Tokens.Clock);
  const id = runOptions.runId ?? settings.get(Tokens.IdGenerator).next("run");
  const cancellation = new Cancellation(joined?.cancellation);
  const redactor = new RunRedactor(settings, draft.plan.tasks, joined?.redactor);
  const events = new RunEvents(id, clock, kernel.hub, redactorOfMode(capture.mode, redactor));
  const base = { startedAt: clock.startOf?.(id) ?? clock.now(), startedMs: clock.monotonicMs() };
  subscribe(events, request);
  follow(cancellation, request);
  return new ActiveRun({
    id,
    inputs,
    tags: Object.freeze({ ...runOptions.tags }),
    parent: joined?.run,
    draft,
    settings,
    points: kernel.points,
    events,
    clock,
    ledger: new Ledger(joined?.ledger, events, joined?.caller),
    cancellation,
    limits: limitsOf(request),
    streaming: options.streaming ?? (request.streaming || events.listensTo("token") || undefined),
    base,
    capture: capture.mode,
    formatter,
    redactor,
    views: VIEWS,
    priority: runOptions.priority ?? joined?.priority ?? "NORMAL",
  });
}

function subscribe(events: RunEvents, { options, runOptions, onEvent }: RunRequest): void {
  if (onEvent !== undefined) events.onAll(onEvent);
  for (const listener of options.listeners ?? []) events.onCallbacks(listener);
  events.onCallbacks(options);
  for (const listener of runOptions.listeners ?? []) events.onCallbacks(listener);
}

/** Ends a run or its preparation on the user's signal, the time limit or the handle. */
export function follow(
  cancellation: Cancellation<AgentEnsembleError>,
  {
    runOptions,
    handle,
  }: {
    readonly runOptions: Pick<RunRequest["runOptions"], "signal" | "timeoutMs">;
    readonly handle: RunRequest["handle"];
  },
): void {
  const { signal, timeoutMs } = runOptions;
  if (signal !== undefined) cancellation.follow(signal, () => cancelledBy(signal));
  if (timeoutMs !== undefined) cancellation.expire(timeoutMs, () => new RunTimeoutError(timeoutMs));
  handle.onCancel(() =>
    cancellation.cancel(handle.reason ?? new RunCancelledError("The run was cancelled")),
  );
}

function limitsOf({ options, runOptions }: RunRequest): RunLimits {
  const graceMs = runOptions.cancelGraceMs ?? GRACE_MS;
  return {
    graceMs,
    callGraceMs: graceMs * 0.8,
    maxToolOutputLength: runOptions.maxToolOutputLength ?? options.maxToolOutputLength ?? NO_LIMIT,
    maxDelegationDepth: options.maxDelegationDepth ?? DELEGATION_DEPTH,
    toolTimeoutMs: options.toolTimeoutMs,
  };
}

function cancelledBy(signal: AbortSignal): AgentEnsembleError {
  const { reason } = signal as { readonly reason: unknown };
  if (RunCancelledError.isInstance(reason) || RunTimeoutError.isInstance(reason)) return reason;
  const unnamed = reason === undefined || (reason instanceof Error && reason.name === "AbortError");
  const message = unnamed ? "The run was cancelled" : `The run was cancelled: ${messageOf(reason)}`;
  return new RunCancelledError(message, { cause: reason });
}
