import { readFile } from "node:fs/promises";
import type { JsonPath } from "../util/json/locate.js";
import type { TraceView } from "./trace-view.js";
import { ValidationError } from "../contracts/errors.js";
import { FileFormatError } from "../contracts/state-errors.js";
import { preview } from "../contracts/validation.js";
import { lineOf } from "../util/json/locate.js";
import { MisshapenTrace, TraceFields } from "./trace-fields.js";
import { traceView } from "./trace-view.js";
import { messageOf } from "../util/errors.js";

const SCHEMA = /^1\.\d+$/;

async function traceText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new ValidationError(`Can't read the trace ${preview(path)}`, {
      cause,
      hint: "Name the JSON file that run --trace, trace.save(path) or jsonTraceExporter() wrote.",
    });
  }
}

function notJson(path: string, text: string, error: unknown): FileFormatError {
  if (text.startsWith('{"format":"agentensemble/recording"')) {
    return new FileFormatError(
      `${path} is a recording, not a trace`,
      { path, line: 1 },
      { hint: `Replay it: agentensemble replay ${path} <file> --trace out.json` },
    );
  }
  const line = lineOf(text);
  const cut = text.trim() === "" ? "it is empty" : messageOf(error);
  return new FileFormatError(
    `${path} is not JSON, from line ${line}: ${cut.slice(0, 300)}`,
    { path, line },
    { hint: "A trace is one JSON object; was the file cut short or edited?" },
  );
}

/** @throws FileFormatError for other documents, and for unsupported versions. */
function checkTraceSchema(trace: TraceFields, path: string, text: string): void {
  const version = trace.raw("schemaVersion");
  const at = (steps: JsonPath): { readonly path: string; readonly line: number } => ({
    path,
    line: lineOf(text, steps),
  });
  const type = trace.raw("type");
  if (version === undefined || type === "dag") {
    const found =
      type === "dag"
        ? "a task graph (made by toDag() or the command dag)"
        : "no trace: it has no schemaVersion";
    throw new FileFormatError(`${path} is ${found}`, at([]), {
      hint: "Name a file that run --trace, trace.save(path) or jsonTraceExporter() wrote.",
    });
  }
  if (typeof version === "string" && SCHEMA.test(version)) return;
  const older = typeof version === "string" && Number.parseFloat(version) < 1;
  const place = at(["schemaVersion"]);
  throw new FileFormatError(
    `${path}, line ${place.line}: schemaVersion ${preview(version)} is not supported, only 1.x`,
    place,
    {
      hint: older
        ? "Record the run again."
        : "It was written by a newer version: update agentensemble.",
    },
  );
}

/**
 * Reads a trace of schema 1.x.
 * @throws ValidationError for a file that can't be read; FileFormatError with the line for an
 * invalid file.
 */
export async function readTraceFile(path: string): Promise<TraceView> {
  const text = (await traceText(path)).replace(/^\uFEFF/, "");
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw notJson(path, text, error);
  }
  try {
    const trace = new TraceFields(document, []);
    checkTraceSchema(trace, path, text);
    const view = traceView(trace);
    if (trace.raw("taskTraces") === undefined)
      throw new MisshapenTrace("taskTraces must be a list, got: undefined", []);
    return view;
  } catch (error) {
    if (!(error instanceof MisshapenTrace)) throw error;
    const line = lineOf(text, error.path);
    throw new FileFormatError(
      `${path}, line ${line}: ${error.message}`,
      { path, line },
      { hint: "The file is not a trace, or it was edited." },
    );
  }
}
