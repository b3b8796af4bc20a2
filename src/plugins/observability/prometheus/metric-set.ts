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
}

type MetricClass = new (o: {
  name: string;
  help: string;
  labelNames: string[];
  registers: Registry[];
  buckets?: number[];
}) => Counter | Gauge | Histogram;

/**
 * Makes the metrics in a registry; those that another kernel has made there are shared.
 * @throws ValidationError where a name is taken by a metric of another kind.
 */
export function createMetrics(client: PromClient, registry: Registry, prefix: string): MetricSet {
  const make = <M extends Counter | Gauge | Histogram>(
    kind: MetricClass,
    end: string,
    help: string,
    labelNames: string[],
    buckets?: number[],
  ): M => {
    const name = `${prefix}${end}`;
    const known: unknown = registry.getSingleMetric(name);
    if (known !== undefined && !(known instanceof kind))
      throw new ValidationError(`prometheus: the registry has a metric '${name}' of another kind`);
    const options = {
      name,
      help,
      labelNames,
      registers: [registry],
      ...(buckets !== undefined && { buckets }),
    };
    return (known ?? new kind(options)) as M; // an instance of `kind`, which every caller passes as the class of M
  };
  const counter = (name: string, help: string, ...labels: string[]): Counter =>
    make(client.Counter, name, help, labels);
  const gauge = (name: string, help: string): Gauge => make(client.Gauge, name, help, []);
  const seconds = (name: string, help: string, buckets: number[], ...labels: string[]): Histogram =>
    make(client.Histogram, name, help, labels, buckets);
  return {
    registry,
    runs: counter("runs_total", "Runs that have ended", "workflow", "exit_reason"),
    activeRuns: gauge("active_runs", "Runs that are going on"),
    runSeconds: seconds("run_duration_seconds", "Duration of runs", TASK_SECONDS, "workflow"),
    completedTasks: counter(
      "completed_tasks_total",
      "Tasks whose output was accepted",
      "agent_role",
    ),
    failedTasks: counter(
      "failed_tasks_total",
      "Tasks that failed or were stopped",
      "agent_role",
      "error_type",
    ),
    activeTasks: gauge("active_tasks", "Tasks that are going on"),
    taskSeconds: seconds("task_duration_seconds", "Duration of tasks", TASK_SECONDS, "agent_role"),
    modelCallSeconds: seconds(
      "llm_call_duration_seconds",
      "Duration of attempts of model calls",
      CALL_SECONDS,
      "provider",
      "model",
      "purpose",
      "outcome",
    ),
    tokens: counter("tokens_total", "Tokens that vendors reported", "direction", "model"),
    cost: counter("estimated_cost_total", "Cost of model calls by costConfiguration", "currency"),
    retries: counter("retries_total", "Model calls that were to be tried again", "agent_role"),
    rateLimited: counter(
      "rate_limited_total",
      "Model calls that had to wait for a rate limit",
      "agent_role",
    ),
    toolExecutions: counter(
      "tool_executions_total",
      "Tool calls",
      "tool_name",
      "agent_role",
      "outcome",
    ),
    toolSeconds: seconds(
      "tool_duration_seconds",
      "Duration of tools",
      TOOL_SECONDS,
      "tool_name",
      "agent_role",
    ),
  };
}
