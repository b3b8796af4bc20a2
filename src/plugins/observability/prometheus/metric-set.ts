import type { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { PromClient } from "./prom-client.js";
import { ValidationError } from "../../../contracts/errors.js";

const TASK_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];
const CALL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160];
const TOOL_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** All metrics, registered. */
export interface MetricSet {
  readonly registry: Registry;
  readonly runs: Counter;
  readonly activeRuns: Gauge;
  readonly runSeconds: Histogram;
  readonly completedTasks: Counter;
  readonly failedTasks: Counter;
  readonly activeTasks: Gauge;
  readonly taskSeconds: Histogram;
  readonly modelCallSeconds: Histogram;
  readonly tokens: Counter;
  readonly cost: Counter;
  readonly retries: Counter;
  readonly rateLimited: Counter;
  readonly toolExecutions: Counter;
  readonly toolSeconds: Histogram;
  readonly queued: Gauge;
  readonly oldestWait: Gauge;
  readonly maxConcurrent: Gauge;
  readonly utilization: Gauge;
  readonly requests: Counter;
  readonly requestSeconds: Histogram;
  readonly requestTokens: Counter;
  readonly requestCost: Counter;
  readonly redeliveries: Counter;
  readonly deadLetters: Counter;
  readonly lostLeases: Counter;
}

type Metric = Counter | Gauge | Histogram;

interface MetricOptions {
  readonly help: string;
  readonly labelNames: string[];
  readonly buckets?: number[];
}

type MetricClass = new (o: MetricOptions & { name: string; registers: Registry[] }) => Metric;

/** Creates metrics in a registry, or returns its existing ones. */
class MetricMaker {
  constructor(
    readonly client: PromClient,
    readonly registry: Registry,
    readonly prefix: string,
  ) {}

  counter(name: string, help: string, ...labelNames: string[]): Counter {
    return this.#metric(this.client.Counter, name, { help, labelNames });
  }

  gauge(name: string, help: string, ...labelNames: string[]): Gauge {
    return this.#metric(this.client.Gauge, name, { help, labelNames });
  }

  histogram(name: string, help: string, buckets: number[], labelNames: string[]): Histogram {
    return this.#metric(this.client.Histogram, name, { help, labelNames, buckets });
  }

  #metric<M extends Metric>(kind: MetricClass, end: string, options: MetricOptions): M {
    const { registry } = this;
    const name = `${this.prefix}${end}`;
    const known: unknown = registry.getSingleMetric(name);
    if (known !== undefined && !(known instanceof kind))
      throw new ValidationError(`prometheus: the registry has a metric '${name}' of another kind`);
    // every caller passes the class of M as `kind`
    return (known ?? new kind({ ...options, name, registers: [registry] })) as M;
  }
}

/**
 * Creates the metrics in a registry. Existing metrics of other kernels are shared.
 * @throws ValidationError if a name belongs to a metric of another kind.
 */
export function createMetrics(client: PromClient, registry: Registry, prefix: string): MetricSet {
  const make = new MetricMaker(client, registry, prefix);
  return {
    registry,
    runs: make.counter("runs_total", "Runs that have ended", "workflow", "exit_reason"),
    activeRuns: make.gauge("active_runs", "Runs that are going on"),
    runSeconds: make.histogram("run_duration_seconds", "Duration of runs", TASK_SECONDS, [
      "workflow",
    ]),
    completedTasks: make.counter(
      "completed_tasks_total",
      "Tasks whose output was accepted",
      "agent_role",
    ),
    failedTasks: make.counter(
      "failed_tasks_total",
      "Tasks that failed or were stopped",
      "agent_role",
      "error_type",
    ),
    activeTasks: make.gauge("active_tasks", "Tasks that are going on"),
    taskSeconds: make.histogram("task_duration_seconds", "Duration of tasks", TASK_SECONDS, [
      "agent_role",
    ]),
    modelCallSeconds: make.histogram(
      "llm_call_duration_seconds",
      "Duration of attempts of model calls",
      CALL_SECONDS,
      ["provider", "model", "purpose", "outcome"],
    ),
    tokens: make.counter("tokens_total", "Tokens that vendors reported", "direction", "model"),
    cost: make.counter(
      "estimated_cost_total",
      "Cost of model calls by costConfiguration",
      "currency",
    ),
    retries: make.counter("retries_total", "Model calls that were to be tried again", "agent_role"),
    rateLimited: make.counter(
      "rate_limited_total",
      "Model calls that had to wait for a rate limit",
      "agent_role",
    ),
    toolExecutions: make.counter(
      "tool_executions_total",
      "Tool calls",
      "tool_name",
      "agent_role",
      "outcome",
    ),
    toolSeconds: make.histogram("tool_duration_seconds", "Duration of tools", TOOL_SECONDS, [
      "tool_name",
      "agent_role",
    ]),
    ...serviceMetricsOf(make),
  };
}

type ServiceMetricName =
  | ("queued" | "oldestWait" | "maxConcurrent" | "utilization" | "requests" | "requestSeconds")
  | ("requestTokens" | "requestCost" | "redeliveries" | "deadLetters" | "lostLeases");

function serviceMetricsOf(make: MetricMaker): Pick<MetricSet, ServiceMetricName> {
  const at = "ensemble";
  return {
    queued: make.gauge("queued_requests", "Requests of a service that wait", at),
    oldestWait: make.gauge("oldest_wait_seconds", "Wait of the oldest request", at),
    maxConcurrent: make.gauge("max_concurrent", "Most requests in execution at once", at),
    utilization: make.gauge("capacity_utilization", "Requests in execution, of the most", at),
    requests: make.counter(
      "network_requests_total",
      "Requests that a service has ended",
      ...["from", "to", "task", "status"],
    ),
    requestSeconds: make.histogram(
      "network_request_duration_seconds",
      "Duration of the execution of requests",
      TASK_SECONDS,
      ["to", "task"],
    ),
    requestTokens: make.counter(
      "network_tokens_total",
      "Tokens that the requests of a caller have used",
      ...["from", "to", "direction"],
    ),
    requestCost: make.counter(
      "network_cost_total",
      "Cost of the requests of a caller by costConfiguration",
      ...["from", "to", "currency"],
    ),
    redeliveries: make.counter("redeliveries_total", "Executions of requests after the first", at),
    deadLetters: make.counter("dead_letters_total", "Requests that became dead letters", at),
    lostLeases: make.counter("lease_lost_total", "Executions whose lease was lost", at),
  };
}
