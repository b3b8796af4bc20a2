import type { Registry } from "prom-client";
import type { Server } from "node:http";
import type { EventStream } from "../../../contracts/events.js";
import type { ServiceObserver } from "../../../contracts/service-observer.js";
import type { Clock } from "../../../contracts/runtime.js";
import type { Exposition } from "./endpoint.js";
import type { MetricSet } from "./metric-set.js";
import type { ResolvedPrometheusOptions } from "./prometheus-options.js";
import { closeServer, serveMetrics, urlOf } from "./endpoint.js";
import { LabelValues } from "./label-values.js";
import { createMetrics } from "./metric-set.js";
import { loadPromClient } from "./prom-client.js";
import { ServiceMetrics } from "./service-metrics.js";
import { RunMetrics } from "./run-metrics.js";

/** The metrics of the kernels that have the plugin, and their endpoint. */
export class PrometheusExporter {
  #metrics: Promise<MetricSet> | undefined;
  #serving: Promise<void> | undefined;
  #server: Server | undefined;
  readonly #labels: LabelValues;
  readonly #runs = new WeakMap<EventStream, RunMetrics>();
  #services: ServiceMetrics | undefined;
  #kernels = 0;

  constructor(readonly options: ResolvedPrometheusOptions) {
    this.#labels = new LabelValues(options.maxLabelValues);
  }

  /** Returns the counters of the kernel with these events. Returns `undefined` before its start. */
  runsOf(events: EventStream): RunMetrics | undefined {
    return this.#runs.get(events);
  }

  /** The address of the endpoint while it is open. */
  get url(): string | undefined {
    const { listen: address } = this.options;
    return this.#server === undefined || address === undefined
      ? undefined
      : urlOf(this.#server, address.host);
  }

  /** Called when a kernel with the plugin starts. `leave()` is its counterpart. */
  join(): void {
    this.#kernels++;
  }

  async start(events: EventStream, clock: Clock): Promise<void> {
    this.#runs.set(events, new RunMetrics(await this.#ready(), this.#labels, clock));
    this.#serving ??= this.#serve();
    await this.#serving;
  }

  /** Counts for a service of a started kernel. Returns a function that stops counting. */
  observe: ServiceObserver["observe"] = (service, limits) =>
    this.#services?.observe(service, limits) ?? ((): void => undefined);

  async expose(): Promise<Exposition> {
    const { registry } = await this.#ready();
    await this.#services?.refresh();
    return { text: await registry.metrics(), contentType: registry.contentType };
  }

  /** Called when the runs of a kernel have ended. The endpoint closes with the last kernel. */
  async leave(): Promise<void> {
    if (--this.#kernels > 0) return;
    const serving = this.#serving;
    this.#serving = undefined;
    await serving?.catch(() => undefined); // its error has already failed the start of a kernel
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) await closeServer(server);
  }

  async #serve(): Promise<void> {
    const { listen: address } = this.options;
    if (address !== undefined) this.#server = await serveMetrics(address, () => this.expose());
  }

  async #ready(): Promise<MetricSet> {
    this.#metrics ??= this.#create();
    return this.#metrics;
  }

  async #create(): Promise<MetricSet> {
    const client = await loadPromClient();
    // the option's type has only the checked members, because third-party types are not public
    const registry = (this.options.registry ?? new client.Registry()) as Registry;
    const metrics = createMetrics(client, registry, this.options.prefix);
    this.#services = new ServiceMetrics(metrics, this.#labels);
    return metrics;
  }
}
