import type { IncomingMessage, ServerResponse } from "node:http";
import type { EnsembleHooks } from "../../../contracts/hooks.js";
import type { Plugin } from "../../../contracts/plugin.js";
import type { PrometheusOptions } from "./prometheus-options.js";
import { definePlugin } from "../../../contracts/plugin.js";
import { Tokens } from "../../../contracts/tokens.js";
import { answerScrape } from "./endpoint.js";
import { COUNTED, type RunMetrics } from "./run-metrics.js";
import { PrometheusExporter } from "./exporter.js";
import { resolvePrometheusOptions } from "./prometheus-options.js";

export type {
  PrometheusListenOptions,
  PrometheusOptions,
  PrometheusRegistry,
} from "./prometheus-options.js";

/** The plugin, with the functions for a separate endpoint. */
export interface PrometheusPlugin extends Plugin {
  /**
   * Returns all metrics in the text format of Prometheus, even after the end of the kernel.
   * @throws ValidationError if prom-client is not installed.
   */
  metrics(): Promise<string>;
  /** The media type of the text that `metrics()` returns. */
  readonly contentType: string;
  /** Answers a request of `node:http` with the metrics, at any path. Never rejects. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /**
   * The URL that `listen` serves, for instance `http://127.0.0.1:9464/metrics`. `undefined` without
   * a listener.
   */
  readonly url: string | undefined;
}

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Counts and times the runs, tasks, model calls and tools of a kernel for Prometheus. Requires the
 * package `prom-client`. Opens a port only with `listen`. Several kernels may share one plugin,
 * which then adds their numbers. Labels contain roles, names of tools and models and similar names,
 * never texts. Each label has at most `maxLabelValues` values.
 *
 * @throws ValidationError for an invalid option. The start of the kernel throws it if the package
 * is missing. It also throws it if the registry has a metric of the same name but another kind.
 */
export function prometheus(options: PrometheusOptions = {}): PrometheusPlugin {
  const exporter = new PrometheusExporter(resolvePrometheusOptions(options));
  return definePlugin({
    name: "observability-prometheus",
    bind(bind) {
      exporter.join(); // a kernel calls `dispose` only after this step
      bind.many(Tokens.ServiceObserver).toConstantValue({ observe: exporter.observe });
    },
    apply({ hooks, events }) {
      events.on((e) => exporter.runsOf(events)?.handle(e), { only: COUNTED });
      tap(hooks, () => exporter.runsOf(events));
    },
    start: (ctx) => exporter.start(ctx.events, ctx.get(Tokens.Clock)),
    dispose: () => exporter.leave(),
    metrics: async () => (await exporter.expose()).text,
    contentType: options.registry?.contentType ?? CONTENT_TYPE,
    handler: (request, response) => answerScrape(request, response, () => exporter.expose()),
    // eslint-disable-next-line no-restricted-syntax -- once per plugin
    get url() {
      return exporter.url;
    },
  } satisfies PrometheusPlugin);
}

/**
 * Begins calls after the last tap before them. Ends them before other plugins process the result.
 */
function tap(hooks: EnsembleHooks, runs: () => RunMetrics | undefined): void {
  const before = { name: "prometheus", lane: "answer", order: "post", onError: "skip" } as const;
  const after = { name: "prometheus", lane: "transform", order: "pre", onError: "skip" } as const;
  hooks.beforeLlmCall.tap(before, (call) => runs()?.beginModelCall(call));
  hooks.afterLlmCall.tap(after, (call) => runs()?.endModelCall(call));
  hooks.beforeToolCall.tap(before, (call) => runs()?.beginToolCall(call));
  hooks.afterToolCall.tap(after, (call) => runs()?.endToolCall(call));
  hooks.afterRun.tap(after, (call) => runs()?.runEnded(call));
}
