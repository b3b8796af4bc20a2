import type { Registry } from "prom-client";
import type { Server } from "node:http";
import type { Clock } from "../../../contracts/runtime.js";
import type { Exposition } from "./endpoint.js";
import type { MetricSet } from "./metric-set.js";
import type { ResolvedPrometheusOptions } from "./prometheus-options.js";
import { closeServer, serveMetrics, urlOf } from "./endpoint.js";
import { LabelValues } from "./label-values.js";
import { createMetrics } from "./metric-set.js";
import { loadPromClient } from "./prom-client.js";
import { RunMetrics } from "./run-metrics.js";

/** The metrics of a kernel, and where they are read. */
export class PrometheusExporter {
  #metrics: Promise<MetricSet> | undefined;
  #server: Server | undefined;
  #runs: RunMetrics | undefined;

  constructor(readonly options: ResolvedPrometheusOptions) {}

  /** What counts; `undefined` before the kernel has started. */
  get runs(): RunMetrics | undefined {
    return this.#runs;
  }

  /** The address of the endpoint while it is there. */
  get url(): string | undefined {
    const { listen: address } = this.options;
    return this.#server === undefined || address === undefined
      ? undefined
      : urlOf(this.#server, address.host);
  }

  async start(clock: Clock): Promise<void> {
    const { listen: address, maxLabelValues } = this.options;
    this.#runs = new RunMetrics(await this.#ready(), new LabelValues(maxLabelValues), clock);
    if (address !== undefined) this.#server = await serveMetrics(address, () => this.expose());
  }

  async expose(): Promise<Exposition> {
    const { registry } = await this.#ready();
    return { text: await registry.metrics(), contentType: registry.contentType };
  }

  async stop(): Promise<void> {
    this.#runs?.close();
    this.#runs = undefined;
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) await closeServer(server);
  }

  async #ready(): Promise<MetricSet> {
    this.#metrics ??= this.#create();
    return this.#metrics;
  }

  async #create(): Promise<MetricSet> {
    const client = await loadPromClient();
    const registry = (this.options.registry ?? new client.Registry()) as Registry; // the option's type names only what was checked: third parties' types stay inside
    return createMetrics(client, registry, this.options.prefix);
  }
}
