/** Watching runs: progress on the console, traces as JSON files. */
export { consoleProgress } from "./plugins/observability/console/index.js";
export type { ConsoleProgressOptions, ProgressStream } from "./plugins/observability/console/index.js";
export { jsonTraceExporter } from "./plugins/observability/json/json-trace-exporter.js";
export type { JsonTraceExporter, JsonTraceExporterOptions } from "./plugins/observability/json/json-trace-exporter.js";
