import type { Service, ServiceEvent } from "../../../contracts/service.js";
import type { ServiceObserver } from "../../../contracts/service-observer.js";
import type { ForeignUsage } from "../../../contracts/usage.js";
import type { LabelValues } from "./label-values.js";
import type { MetricSet } from "./metric-set.js";
import { withTimeout } from "../../../util/abort/timeouts.js";

/** Time limit for reading the queue of a service, in milliseconds. */
const DEPTH_MS = 2_000;

const COUNTED = [
  ...(["request_started", "request_finished"] as const),
  ...(["dead_letter", "lease_lost"] as const),
];

interface Observed {
  readonly service: Service;
  readonly maxConcurrent: number;
}

/** Counts the work of services, and reads their queues when the metrics are read. */
export class ServiceMetrics implements ServiceObserver {
  readonly #metrics: MetricSet;
  readonly #labels: LabelValues;
  readonly #observed = new Set<Observed>();

  constructor(metrics: MetricSet, labels: LabelValues) {
    this.#metrics = metrics;
    this.#labels = labels;
  }

  observe(
    service: Service,
    { maxConcurrentRequests: maxConcurrent }: { readonly maxConcurrentRequests: number },
  ): () => void {
    const one = { service, maxConcurrent };
    this.#observed.add(one);
    const leave = service.on((event) => this.#count(event), { only: COUNTED });
    return () => {
      leave();
      this.#observed.delete(one);
      const { queued, oldestWait, maxConcurrent: most, utilization } = this.#metrics;
      for (const gauge of [queued, oldestWait, most, utilization])
        gauge.remove({ ensemble: service.name });
    };
  }

  /** Sets the gauges. Removes the gauges of a queue that does not respond. */
  async refresh(): Promise<void> {
    await Promise.all([...this.#observed].map((one) => this.#read(one)));
  }

  async #read({ service, maxConcurrent }: Observed): Promise<void> {
    const { queued, oldestWait, maxConcurrent: most, utilization } = this.#metrics;
    const labels = { ensemble: service.name };
    most.set(labels, maxConcurrent);
    utilization.set(labels, service.requests().length / maxConcurrent);
    try {
      const { depth } = await withTimeout(() => service.stats(), {
        ms: DEPTH_MS,
        late: (): never => {
          throw new Error("The queue does not answer");
        },
      });
      queued.set(labels, depth.queued);
      oldestWait.set(labels, depth.oldestWaitMs / 1_000);
    } catch {
      queued.remove(labels); // an old value would be wrong
      oldestWait.remove(labels);
    }
  }

  #countUsage(usage: readonly ForeignUsage[], from: string, to: string): void {
    const { requestTokens, requestCost } = this.#metrics;
    for (const { inputTokens = 0, outputTokens = 0, cost = 0, currency = "USD" } of usage) {
      requestTokens.inc({ from, to, direction: "input" }, inputTokens);
      requestTokens.inc({ from, to, direction: "output" }, outputTokens);
      if (cost > 0) requestCost.inc({ from, to, currency }, cost);
    }
  }

  #count(event: ServiceEvent): void {
    const { requests, requestSeconds, redeliveries, deadLetters, lostLeases } = this.#metrics;
    const { ensemble } = event;
    switch (event.type) {
      case "request_started":
        if (event.attempt > 1) redeliveries.inc({ ensemble });
        return;
      case "request_finished": {
        const { from, task, status, durationMs } = event;
        const place = { to: ensemble, task: this.#labels.of("task", task) };
        requests.inc({ from: this.#labels.of("from", from), ...place, status });
        requestSeconds.observe(place, durationMs / 1_000);
        return this.#countUsage(event.usage ?? [], this.#labels.of("from", from), ensemble);
      }
      case "dead_letter":
        return deadLetters.inc({ ensemble });
      case "lease_lost":
        return lostLeases.inc({ ensemble });
      default:
    }
  }
}
