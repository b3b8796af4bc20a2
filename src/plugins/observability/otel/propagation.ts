import type { TraceContext } from "../../../contracts/propagation.js";
import type { RunInfo } from "../../../contracts/run-info.js";
import type { Place, Telemetry } from "./telemetry.js";

/** Where in a run: the context of a tool or of a handler, or a run with the id of a task. */
export type TracedPlace = {
  readonly taskId?: string | undefined;
  readonly toolCallId?: string | undefined;
} & ({ readonly runId: string } | { readonly run: Pick<RunInfo, "id"> });

export function traceContextOf(place: TracedPlace): Place {
  const { taskId, toolCallId } = place;
  return { runId: "run" in place ? place.run.id : place.runId, taskId, toolCallId };
}

export function contextually<T>(telemetry: Telemetry | undefined, place: Place, fn: () => T): T {
  const context = telemetry?.contextAt(place);
  return telemetry === undefined || context === undefined
    ? fn()
    : telemetry.tracing.api.context.with(context, fn);
}

/** The trace context of a place, as it is sent to other systems. */
export function injected(telemetry: Telemetry | undefined, place: Place): TraceContext | undefined {
  const context = telemetry?.contextAt(place);
  if (telemetry === undefined || context === undefined) return undefined;
  const { isSpanContextValid, trace } = telemetry.tracing.api;
  const span = trace.getSpanContext(context);
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const flags = span.traceFlags.toString(16).padStart(2, "0");
  const tracestate = span.traceState?.serialize() ?? "";
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(tracestate !== "" && { tracestate }),
  };
}

/** Version `ff` is none. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Header values, as they came: some servers give lists. */
function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Calls `fn` with a span of another system as the active one. */
export function underRemote<T>(
  telemetry: Telemetry | undefined,
  remote: TraceContext | undefined,
  fn: () => T,
): T {
  const parts = TRACEPARENT.exec(textIn(remote?.traceparent) ?? "");
  if (telemetry === undefined || remote === undefined || parts === null) return fn();
  const { context, createTraceState, isSpanContextValid, ROOT_CONTEXT, trace } =
    telemetry.tracing.api;
  const [, traceId = "", spanId = "", flags = ""] = parts;
  const tracestate = textIn(remote.tracestate);
  const span = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
  if (!isSpanContextValid(span)) return fn();
  return context.with(trace.setSpanContext(ROOT_CONTEXT, span), fn);
}
