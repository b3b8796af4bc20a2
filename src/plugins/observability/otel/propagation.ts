import type { Context } from "@opentelemetry/api";
import type { TraceContext } from "../../../contracts/propagation.js";
import type { RunInfo } from "../../../contracts/run-info.js";
import type { OtelApi } from "./otel-api.js";
import type { Place, Telemetry } from "./telemetry.js";

/** A place in a run. It is the context of a tool or a handler, or a run with the id of a task. */
export type TracedPlace = {
  readonly taskId?: string | undefined;
  readonly toolCallId?: string | undefined;
} & ({ readonly runId: string } | { readonly run: Pick<RunInfo, "id"> });

export function traceContextOf(place: TracedPlace): Place {
  const { taskId, toolCallId } = place;
  return { runId: "run" in place ? place.run.id : place.runId, taskId, toolCallId };
}

interface FoundContext {
  readonly api: OtelApi;
  readonly context: Context;
}

/** Returns the context of a place, in any of the active kernels. */
function contextIn(active: Iterable<Telemetry>, place: Place): FoundContext | undefined {
  for (const telemetry of active) {
    const context = telemetry.contextAt(place);
    if (context !== undefined) return { api: telemetry.tracing.api, context };
  }
  return undefined;
}

export function contextually<T>(active: Iterable<Telemetry>, place: Place, fn: () => T): T {
  const found = contextIn(active, place);
  return found === undefined ? fn() : found.api.context.with(found.context, fn);
}

/** Returns the trace context of a place, in the form for other systems. */
export function injected(active: Iterable<Telemetry>, place: Place): TraceContext | undefined {
  const found = contextIn(active, place);
  if (found === undefined) return undefined;
  const { isSpanContextValid, trace } = found.api;
  const span = trace.getSpanContext(found.context);
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const flags = span.traceFlags.toString(16).padStart(2, "0");
  const tracestate = span.traceState?.serialize() ?? "";
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(tracestate !== "" && { tracestate }),
  };
}

/** Matches a valid header. Version `ff` is invalid. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Returns the text of a header value. Some servers use lists. */
function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Calls `fn` with a span of another system as the active one. */
export function underRemote<T>(
  api: OtelApi | undefined,
  remote: TraceContext | undefined,
  fn: () => T,
): T {
  const parts = TRACEPARENT.exec(textIn(remote?.traceparent) ?? "");
  if (api === undefined || remote === undefined || parts === null) return fn();
  const { context, createTraceState, isSpanContextValid, ROOT_CONTEXT, trace } = api;
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
