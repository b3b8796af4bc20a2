import type { RunInfo } from "./run-info.js";

/** A position in a trace, as the headers of W3C Trace Context. */
export interface TraceContext {
  /** `00-{trace id}-{span id}-{flags}`. */
  readonly traceparent: string;
  /** Additions of tracing systems. */
  readonly tracestate?: string | undefined;
}

/** A position in a run: the context of a handler, a tool's scope, or a run alone. */
export interface RunPlace {
  readonly run: Pick<RunInfo, "id">;
  readonly taskId?: string | undefined;
  readonly toolCallId?: string | undefined;
}

/**
 * Sends traces to other systems and continues theirs. Bound to `Tokens.TracePropagation` by a
 * tracing plugin such as `otel()`. Never throws.
 */
export interface TracePropagation {
  /**
   * Returns the trace context of a position, for an outgoing request. `undefined` without tracing,
   * and after the end of the run.
   */
  inject(place: RunPlace): TraceContext | undefined;
  /**
   * Calls `fn` in a received context. Runs that begin in it belong to its trace. Without a valid
   * context, just calls `fn`.
   */
  within<T>(context: TraceContext | undefined, fn: () => T): T;
}
