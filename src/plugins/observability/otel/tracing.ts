import type { Attributes, Context, HrTime, Span, Tracer } from "@opentelemetry/api";
import type { RunInfo } from "../../../contracts/run-info.js";
import type { Clock } from "../../../contracts/runtime.js";
import type { Instruments } from "./instruments.js";
import type { OtelApi } from "./otel-api.js";
import type { VersionedNames } from "./semantic-names.js";
import { AgentEnsembleError } from "../../../contracts/errors.js";
import { errorTypeOf, isFault, rootOf } from "../shared/failures.js";
import { ATTRIBUTES } from "./semantic-names.js";

/** The objects for creating spans and metrics. A kernel has one. */
export interface Tracing {
  readonly api: OtelApi;
  readonly tracer: Tracer;
  readonly instruments: Instruments;
  readonly names: VersionedNames;
  readonly clock: Clock;
  readonly captureContent: boolean;
  /** `withoutSecrets` removes the known secrets of the run. */
  readonly redact: (text: string, withoutSecrets: (text: string) => string) => string;
  readonly workflowNameOf: (run: RunInfo) => string | undefined;
}

/** A span that has begun. */
export interface OpenSpan {
  readonly span: Span;
  /** The context with the span, for its children. */
  readonly context: Context;
  /** On the monotonic clock. */
  readonly startedMs: number;
}

/**
 * Instants of one run from the monotonic clock. Changes of the wall clock do not affect durations.
 */
export class RunClock {
  readonly #wallMs: number;
  readonly #monotonicMs: number;

  constructor(readonly clock: Clock) {
    this.#wallMs = clock.now().getTime();
    this.#monotonicMs = clock.monotonicMs();
  }

  ms(): number {
    return this.clock.monotonicMs();
  }

  /**
   * Returns OpenTelemetry's pair of seconds and nanoseconds. OpenTelemetry interprets small numbers
   * as another kind of time.
   */
  instant(monotonicMs: number): HrTime {
    const ms = this.#wallMs + Math.max(0, monotonicMs - this.#monotonicMs);
    const seconds = Math.floor(ms / 1000);
    return [seconds, Math.floor((ms - seconds * 1000) * 1e6)];
  }
}

/** The shared state of the spans of one run. */
export interface RunScope {
  readonly tracing: Tracing;
  readonly clock: RunClock;
  /** Removes the known secrets of the run. */
  redact(text: string): string;
}

/** A span to begin. */
export interface NewSpan {
  readonly parent: Context;
  readonly name: string;
  readonly attributes: Attributes;
  /** On the monotonic clock. Default: now. */
  readonly startedMs?: number;
  /** Whether it is the span of a call to another system. Default false. */
  readonly client?: boolean;
}

/** Begins a span below `parent`. */
export function begin(
  { tracing: { api, tracer }, clock }: RunScope,
  { parent, name, attributes, startedMs = clock.ms(), client = false }: NewSpan,
): OpenSpan {
  const kind = client ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL;
  const span = tracer.startSpan(
    name,
    { kind, attributes, startTime: clock.instant(startedMs) },
    parent,
  );
  return { span, context: api.trace.setSpan(parent, span), startedMs };
}

/** Records the end of a step on its span. A failure is an error. A requested stop is not. */
export function noteError(run: RunScope, span: Span, error: Error, at: HrTime): void {
  if (!isFault(error)) return;
  const root = rootOf(error);
  const message = run.redact(root.message).slice(0, 1000);
  span.setAttribute(ATTRIBUTES.errorType, errorTypeOf(root));
  span.setStatus({ code: run.tracing.api.SpanStatusCode.ERROR, message });
  const code = AgentEnsembleError.isInstance(root) ? { code: root.code } : {};
  span.recordException(
    {
      name: root.name,
      message,
      ...code,
      ...(root.stack !== undefined && { stack: run.redact(root.stack) }),
    },
    at,
  );
}

/** Returns the attribute of metrics for a failed step. */
export function errorAttribute(error: Error | undefined): Attributes {
  return error !== undefined && isFault(error)
    ? { [ATTRIBUTES.errorType]: errorTypeOf(error) }
    : {};
}
