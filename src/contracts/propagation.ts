import type { RunInfo } from "./run-info.js";

/** A place in a trace, as the headers of W3C Trace Context. */
export interface TraceContext {
  /** `00-{trace id}-{span id}-{flags}`. */
  readonly traceparent: string;
  /** What tracing systems add to it. */
  readonly tracestate?: string | undefined;
}

/** A place in a run: the context of a handler, a tool's scope, or a run alone. */
export interface RunPlace {
  readonly run: Pick<RunInfo, "id">;
  readonly taskId?: string | undefined;
  readonly toolCallId?: string | undefined;
}

/** Carries traces over to other systems and takes over theirs; bound to `Tokens.TracePropagation` by a tracing plugin such as `otel()`. Never throws. */
export interface TracePropagation {
  /** The trace context of a place, to be sent along. `undefined` where there is none: no tracing, or a run that is over. */
  inject(place: RunPlace): TraceContext | undefined;
  /** Calls `fn` under a context that came along: runs that begin in it belong to its trace. Without a sound context `fn` is just called. */
  within<T>(context: TraceContext | undefined, fn: () => T): T;
}
