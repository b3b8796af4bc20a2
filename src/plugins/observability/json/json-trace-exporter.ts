import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ExecutionTrace } from "../../../contracts/trace.js";
import { ValidationError } from "../../../contracts/errors.js";
import { checkOptions, preview, requireText } from "../../../contracts/validation.js";

const EXTENSION = ".json";
const MAX_NAME_LENGTH = 120;

/** Where traces go: a folder that gets one file per run, or one file that the next run overwrites. */
export type JsonTraceExporterOptions = { readonly dir: string; readonly file?: undefined } | { readonly file: string; readonly dir?: undefined };

/** A trace exporter that writes files. */
export interface JsonTraceExporter {
  /** @throws ValidationError naming the path when it cannot be written. */
  export(trace: ExecutionTrace): Promise<void>;
}

/** The file name of a run. An id that had to be changed gets a piece of its hash, so that two ids never share a file. */
function fileName(ensembleId: string): string {
  const room = MAX_NAME_LENGTH - EXTENSION.length;
  const safe = ensembleId.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "_");
  if (safe === ensembleId && safe !== "" && safe.length <= room) return `${safe}${EXTENSION}`;
  const hash = createHash("sha256").update(ensembleId).digest("hex").slice(0, 8);
  return `${safe.slice(0, room - hash.length - 1)}-${hash}${EXTENSION}`.replace(/^-/, "run-");
}

/**
 * Writes the trace of every run as JSON (schema 1.1): `{ensembleId}.json` in `dir`, or always to `file`. Each file appears whole or not at all;
 * missing folders are made. Pass it as `traceExporter`, or bind it to `Tokens.TraceExporter`.
 * @throws ValidationError unless exactly one of `dir` and `file` is given.
 */
export function jsonTraceExporter(options: JsonTraceExporterOptions): JsonTraceExporter {
  checkOptions("jsonTraceExporter", options, ["dir", "file"]);
  const { dir, file } = options;
  if ((dir === undefined) === (file === undefined)) {
    throw new ValidationError(`jsonTraceExporter needs exactly one of 'dir' and 'file', got: ${preview(options)}`);
  }
  requireText(dir ?? file, `jsonTraceExporter '${dir === undefined ? "file" : "dir"}' must not be blank, got: ${preview(dir ?? file)}`);
  return Object.freeze({
    export: (trace: ExecutionTrace): Promise<void> => trace.save(file ?? join(dir ?? "", fileName(trace.ensembleId))),
  });
}
