import type { EvaluationDataset, EvaluationCase } from "../evaluation-case.js";
import type { OutputSchema } from "../../contracts/types.js";
import type { Fields } from "../../util/objects.js";
import { ValidationError } from "../../contracts/errors.js";
import { DatasetError } from "../../contracts/evaluation-errors.js";
import { FileFormatError } from "../../contracts/state-errors.js";
import { checkOptions, preview, requireFunction, requireText } from "../../contracts/validation.js";
import { messageOf } from "../../util/errors.js";
import { asFields } from "../../util/objects.js";
import { checkValue, isValidating } from "../../util/schema/standard-schema.js";
import { datasetBytes, datasetLines } from "./read-lines.js";

/** Options for converting the rows of a file to cases. */
export interface DatasetFileOptions<In, Out> {
  /**
   * Converts a row to a case. Default: a row has the fields of a case. See the description of the
   * format.
   */
  readonly map?: ((row: Fields, line: number) => EvaluationCase<In, Out>) | undefined;
  /** Checks and converts the inputs. */
  readonly inputType?: OutputSchema<In> | undefined;
  /** Checks and converts the expected values. */
  readonly expectedType?: OutputSchema<Out> | undefined;
}

/** @throws FileFormatError and DatasetError while the cases are read. */
export function jsonlDataset<In = unknown, Out = unknown>(
  path: string,
  options: DatasetFileOptions<In, Out> = {},
): EvaluationDataset<In, Out> {
  return fileDataset(path, "Dataset.jsonl", options, { rows: jsonRows, caseOf: (row) => row });
}

/** @throws FileFormatError and DatasetError while the cases are read. */
export function csvDataset<In = unknown, Out = unknown>(
  path: string,
  options: DatasetFileOptions<In, Out> = {},
): EvaluationDataset<In, Out> {
  return fileDataset(path, "Dataset.csv", options, { rows: csvRows, caseOf: caseOfCsv });
}

interface NumberedRow {
  readonly row: Fields;
  readonly line: number;
}

interface FileFormat {
  rows(path: string): AsyncIterable<NumberedRow>;
  caseOf(row: Fields): Fields;
}

function fileDataset<In, Out>(
  path: string,
  what: string,
  options: DatasetFileOptions<In, Out>,
  format: FileFormat,
): EvaluationDataset<In, Out> {
  requireText(path, `${what} needs the path of a file, got: ${preview(path)}`);
  checkOptions(what, options, ["map", "inputType", "expectedType"]);
  const { map, inputType, expectedType } = options;
  requireFunction(`${what} map`, map);
  checkRowSchema(`${what} inputType`, inputType);
  checkRowSchema(`${what} expectedType`, expectedType);
  return Object.freeze({
    name: path,
    async *read() {
      for await (const { row, line } of format.rows(path)) {
        const at = `${path}, line ${line}`;
        const one = map === undefined ? format.caseOf(row) : mapped(map, row, line, at);
        yield {
          ...one,
          ...(inputType !== undefined && {
            input: await converted(inputType, one["input"], `${at}: input`),
          }),
          ...(expectedType !== undefined &&
            one["expected"] !== undefined && {
              expected: await converted(expectedType, one["expected"], `${at}: expected`),
            }),
        } as unknown as EvaluationCase<In, Out>; // checked by the evaluation and the schemas
      }
    },
  });
}

function checkRowSchema(what: string, schema: unknown): void {
  if (schema === undefined || (asFields(schema) !== undefined && isValidating(schema))) return;
  if (typeof schema === "function" && isValidating(schema)) return;
  throw new ValidationError(`${what} must be a Standard Schema, got: ${preview(schema)}`);
}

function mapped<In, Out>(
  map: (row: Fields, line: number) => EvaluationCase<In, Out>,
  row: Fields,
  line: number,
  at: string,
): Fields {
  try {
    return map(row, line) as unknown as Fields; // checked by the evaluation
  } catch (cause) {
    throw new DatasetError(`${at}: map failed: ${messageOf(cause)}`, "INVALID_CASE", { cause });
  }
}

async function converted(
  schema: OutputSchema<unknown>,
  value: unknown,
  at: string,
): Promise<unknown> {
  const checked = await checkValue(schema, value);
  if (checked.ok) return checked.value;
  throw new DatasetError(`${at} does not match its schema: ${checked.problem}`, "INVALID_CASE");
}

async function* jsonRows(path: string): AsyncGenerator<NumberedRow, void, void> {
  for await (const { text, line } of datasetLines(path)) {
    if (text.trim() === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw new FileFormatError(
        `${path}, line ${line} is not JSON: ${messageOf(cause)}`,
        { path, line },
        { cause, hint: "Each line of a JSONL file is one JSON object." },
      );
    }
    const row = asFields(value);
    if (row === undefined)
      throw new FileFormatError(`${path}, line ${line} is not a JSON object`, { path, line });
    yield { row, line };
  }
}

async function* csvRows(path: string): AsyncGenerator<NumberedRow, void, void> {
  const { parse } = await import("./csv-vendor.js");
  const { Readable } = await import("node:stream");
  const parser = parse({ columns: true, bom: true, skip_empty_lines: true, info: true });
  const source = Readable.from(datasetBytes(path));
  source.on("error", (error) => parser.destroy(error));
  try {
    for await (const { record, info } of source.pipe(parser) as AsyncIterable<CsvRecord>)
      yield { row: record, line: info.lines };
  } catch (cause) {
    const line = asFields(cause)?.["lines"];
    if (typeof line !== "number") throw cause;
    throw new FileFormatError(
      `${path}, line ${line}: ${messageOf(cause)}`,
      { path, line },
      { cause },
    );
  } finally {
    source.destroy();
  }
}

/** A record of the parser with the option `info`. */
interface CsvRecord {
  readonly record: Fields;
  readonly info: { readonly lines: number };
}

/**
 * Converts a row to a case. `id`, `expected` and `tags` (separated by `;`) are fields of the case.
 * The input is the text of the column `input`, or an object of all other columns.
 */
function caseOfCsv(row: Fields): Fields {
  const { id, expected, tags, input, ...others } = row;
  const given = (name: string, value: unknown): Fields =>
    value === undefined || value === "" ? {} : { [name]: value };
  return {
    ...given("id", id),
    ...given("expected", expected),
    ...(typeof tags === "string" && {
      tags: tags.split(";").flatMap((tag) => (tag.trim() === "" ? [] : tag.trim())),
    }),
    ...(input === undefined ? { input: others } : { ...others, input }),
  };
}
