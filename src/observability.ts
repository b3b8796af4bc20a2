/** Observation of runs: progress on the console, traces as JSON files, usage and cost of calls. */
export { consoleProgress } from "./plugins/observability/console/index.js";
export type {
  ConsoleProgressOptions,
  ProgressStream,
} from "./plugins/observability/console/index.js";
export { jsonTraceExporter } from "./plugins/observability/shared/json-trace-exporter.js";
export type {
  JsonTraceExporter,
  JsonTraceExporterOptions,
} from "./plugins/observability/shared/json-trace-exporter.js";
export { dagOf } from "./plugins/shared/trace-dag.js";
export { redacted } from "./plugins/shared/redact-event.js";
export type { RedactedEvent } from "./plugins/shared/redact-event.js";
export { formatCost, usageReport } from "./plugins/observability/usage/index.js";
export type { UsageGrouping, UsageRow } from "./plugins/observability/usage/index.js";
