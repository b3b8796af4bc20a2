import type { RunInfo } from "./run-info.js";

/** A position in a trace, as the headers of W3C Trace Context. */
export interface TraceContext {
  /** `00-{trace id}-{span id}-{flags}`. */
  readonly traceparent: string;
  /** Data that tracing systems add. */
  readonly tracestate?: string | undefined;
}

/** A position in a run: the context of a handler, the scope of a tool, or only the run. */
export interface RunPlace {
  readonly run: Pick<RunInfo, "id">;
  readonly taskId?: string | undefined;
  readonly toolCallId?: string | undefined;
}

/**
 * Passes trace contexts to other systems and continues received ones. Bound to
 * `Tokens.TracePropagation` by a tracing plugin such as `otel()`. Never throws.
 */
export interface TracePropagation {
  /**
   * Returns the trace context of a position for an outgoing request. Returns `undefined` without
   * tracing, and after the end of the run.
   */
  inject(place: RunPlace): TraceContext | undefined;
  /**
   * Calls `fn` within a received context. Runs started by `fn` then belong to its trace. Without a
   * valid context, only calls `fn`.
   */
  within<T>(context: TraceContext | undefined, fn: () => T): T;
}
