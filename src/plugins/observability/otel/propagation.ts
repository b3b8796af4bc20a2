import type { RunInfo } from "../../../contracts/run.js";
import type { Place, Telemetry } from "./telemetry.js";

/** Where in a run: the context of a tool or of a handler, or a run with the id of a task. */
export type TracedPlace = {
  readonly taskId?: string | undefined;
  readonly toolCallId?: string | undefined;
} & ({ readonly runId: string } | { readonly run: RunInfo });

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

export function traceparentOf(telemetry: Telemetry | undefined, place: Place): string | undefined {
  const context = telemetry?.contextAt(place);
  if (telemetry === undefined || context === undefined) return undefined;
  const { isSpanContextValid, trace } = telemetry.tracing.api;
  const span = trace.getSpanContext(context);
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, "0")}`;
}
