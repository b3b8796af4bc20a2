import type { EventStream } from "../../../contracts/events.js";
import type { EnsembleHooks } from "../../../contracts/hooks.js";
import type { Plugin } from "../../../contracts/plugin.js";
import type { OtelApi } from "./otel-api.js";
import type { OtelOptions } from "./otel-options.js";
import type { TracedPlace } from "./propagation.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { ReportFirstFault } from "./report-first-fault.js";
import { checkOtelOptions } from "./otel-options.js";
import { contextually, injected, traceContextOf, underRemote } from "./propagation.js";
import { startTelemetry } from "./start-telemetry.js";
import { TRACED, Telemetry } from "./telemetry.js";

export type {
  OtelMeterProvider,
  OtelOptions,
  OtelTracer,
  OtelTracerProvider,
} from "./otel-options.js";
export type { TracedPlace } from "./propagation.js";
export type { SemconvVersion } from "./semantic-names.js";

/** The plugin, with functions that continue the trace in tools and handlers. */
export interface OtelPlugin extends Plugin {
  /**
   * Calls `fn` with the span of the tool call, the task or the run as the active span. The spans of
   * `fn` and of instrumented clients become its children. Pass the `ctx` of a tool or handler.
   * Before the start of the kernel, and after the end of the run, calls `fn` without a span.
   * Requires a context manager of OpenTelemetry.
   */
  within<T>(place: TracedPlace, fn: () => T): T;
  /**
   * Returns the same span as the value of a `traceparent` header (W3C Trace Context), for calls of
   * other systems. Returns `undefined` without a span.
   */
  traceparent(place: TracedPlace): string | undefined;
}

/**
 * Records spans and metrics of all runs of a kernel through OpenTelemetry, by its semantic
 * conventions for generative AI. Requires the package `@opentelemetry/api`, and an SDK that you set
 * up. Without an SDK, nothing is recorded. Several kernels may share one plugin. Prompts and
 * answers are captured only if `captureContent` is true. Failures of the SDK never fail a run.
 *
 * @throws ValidationError for an invalid option. The start of the kernel throws it if the package
 * is missing.
 */
export function otel(options: OtelOptions = {}): OtelPlugin {
  checkOtelOptions(options);
  const content = options.captureContent === true;
  const once = new ReportFirstFault();
  const kernels = new WeakMap<EventStream, Telemetry>();
  const active = new Set<Telemetry>();
  let api: OtelApi | undefined;
  return definePlugin({
    name: "observability-otel",
    bind(bind) {
      bind.single(Tokens.TracePropagation, { default: true }).toConstantValue({
        inject: (place) => injected(active, traceContextOf(place)),
        within: (context, fn) => underRemote(api, context, fn),
      });
    },
    apply({ hooks, events }) {
      events.on(
        once.guard((e) => kernels.get(events)?.handle(e)),
        { only: TRACED },
      );
      tap(hooks, content, once, () => kernels.get(events));
    },
    async start(ctx) {
      const clock = ctx.get(Tokens.Clock);
      const tracing = await startTelemetry(options, clock, (error) => once.note(error));
      ({ api } = tracing);
      kernels.set(ctx.events, new Telemetry(tracing, active));
    },
    within: (place, fn) => contextually(active, traceContextOf(place), fn),
    traceparent: (place) => injected(active, traceContextOf(place))?.traceparent,
  } satisfies OtelPlugin);
}

/**
 * Begins spans of calls after the last tap before the call. Ends them before other plugins process
 * the result. If content is captured, ends them after the other plugins, to record the final text.
 */
function tap(
  hooks: EnsembleHooks,
  content: boolean,
  once: ReportFirstFault,
  get: () => Telemetry | undefined,
): void {
  const before = { name: "otel", lane: "answer", order: "post", onError: "skip" } as const;
  const after = {
    name: "otel",
    lane: "transform",
    order: content ? "post" : "pre",
    onError: "skip",
  } as const;
  const first = { name: "otel", order: "pre", onError: "skip" } as const;
  hooks.beforeRun.tap(
    { ...first, lane: "policy" },
    once.guard((call) => get()?.beginRun(call)),
  );
  hooks.afterRun.tap(
    after,
    once.guard((call) => get()?.runFailed(call)),
  );
  hooks.beforeTask.tap(
    { ...first, lane: "transform" },
    once.guard((call) => get()?.beginAttempt(call)),
  );
  hooks.beforeLlmCall.tap(
    before,
    once.guard((call) => get()?.beginModelCall(call)),
  );
  hooks.afterLlmCall.tap(
    after,
    once.guard((call) => get()?.endModelCall(call)),
  );
  hooks.beforeToolCall.tap(
    before,
    once.guard((call) => get()?.beginToolCall(call)),
  );
  hooks.afterToolCall.tap(
    after,
    once.guard((call) => get()?.endToolCall(call)),
  );
  hooks.beforeMemoryWrite.tap(
    { ...first, lane: "policy", order: "post" },
    once.guard((write) => get()?.beginMemoryWrite(write)),
  );
  hooks.afterMemoryWrite.tap(
    after,
    once.guard((write) => get()?.endMemoryWrite(write)),
  );
}
