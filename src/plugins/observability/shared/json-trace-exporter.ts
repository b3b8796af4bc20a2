import { join } from "node:path";
import type { Dag } from "../../../contracts/dag.js";
import type { ExecutionTrace } from "../../../contracts/trace.js";
import { ValidationError } from "../../../contracts/errors.js";
import { redactorOf } from "../../../contracts/redaction.js";
import {
  checkOptions,
  preview,
  requireFunction,
  requireText,
} from "../../../contracts/validation.js";
import { createRedactor } from "../../../util/redaction/redactor.js";
import { dagOfRun, redactedDag } from "./run-dag.js";
import { traceFileName, writeTraceFile } from "./trace-files.js";

/** The target of traces: a folder with one file per run, or one file that each run overwrites. */
export type JsonTraceExporterOptions = {
  /**
   * Returns the diagram of the ensemble (`() => ensemble.toDag()`). It is written next to each
   * trace as `{runId}.dag.json`, with the transitions of the run. Default: none.
   */
  readonly dag?: (() => Dag) | undefined;
} & (
  | { readonly dir: string; readonly file?: undefined }
  | { readonly file: string; readonly dir?: undefined }
);

/** A trace exporter that writes files. */
export interface JsonTraceExporter {
  /** @throws ValidationError naming the path if it can't be written. */
  export(trace: ExecutionTrace): Promise<void>;
}

/**
 * Creates an exporter that writes the trace of every run as JSON (schema 1.3). The target is
 * `{runId}.trace.json` in `dir`, or always `file`. Each file is written atomically. Missing folders
 * are created. Pass the exporter as `traceExporter`, or bind it to `Tokens.TraceExporter`.
 *
 * @throws ValidationError unless exactly one of `dir` and `file` is set.
 */
export function jsonTraceExporter(options: JsonTraceExporterOptions): JsonTraceExporter {
  checkOptions("jsonTraceExporter", options, ["dir", "file", "dag"]);
  const { dir, file, dag } = options;
  if ((dir === undefined) === (file === undefined)) {
    throw new ValidationError(
      `jsonTraceExporter needs exactly one of 'dir' and 'file', got: ${preview(options)}`,
    );
  }
  requireText(
    dir ?? file,
    `jsonTraceExporter '${dir === undefined ? "file" : "dir"}' must not be blank, got: ${preview(dir ?? file)}`,
  );
  requireFunction("jsonTraceExporter dag", dag);
  const pathOf = (trace: ExecutionTrace, extension: ".trace.json" | ".dag.json"): string =>
    file === undefined
      ? join(dir ?? "", traceFileName(trace.ensembleId, extension))
      : file.replace(/(?:\.trace)?(?:\.json)?$/, extension);
  return Object.freeze({
    export: async (trace: ExecutionTrace): Promise<void> => {
      await trace.save(file ?? pathOf(trace, ".trace.json"));
      if (dag === undefined) return;
      const diagram = redactedDag(dagOfRun(dag(), trace), redactorOf(trace) ?? createRedactor());
      await writeTraceFile(pathOf(trace, ".dag.json"), [JSON.stringify(diagram, null, 2)]);
    },
  });
}
