import type { EvaluationCase, EvaluationDataset } from "../evaluation-case.js";
import { ValidationError } from "../../contracts/errors.js";
import { preview } from "../../contracts/validation.js";
import { csvDataset, jsonlDataset } from "./file-datasets.js";

/** Creates datasets. A dataset reads its cases in every pass, and keeps none of them in memory. */
export const Dataset = Object.freeze({
  /** Creates a dataset from a list of cases. */
  of: <In, Out>(
    cases: readonly EvaluationCase<In, Out>[],
    name?: string,
  ): EvaluationDataset<In, Out> => {
    if (!Array.isArray(cases))
      throw new ValidationError(`Dataset.of() needs a list of cases, got: ${preview(cases)}`);
    return Object.freeze({
      ...(name !== undefined && { name }),
      async *read() {
        yield* cases as readonly EvaluationCase<In, Out>[];
      },
    });
  },
  /**
   * Creates a dataset from a file with one JSON object per line: `{ "id", "input", "expected",
   * "tags", "metadata" }`.
   */
  jsonl: jsonlDataset,
  /**
   * Creates a dataset from a CSV file with a header line. `id`, `expected` and `tags` (separated by
   * `;`) are fields of the case. The input is the text of the column `input`, or an object of all
   * other columns.
   */
  csv: csvDataset,
});

/** Returns the dataset for the value of an option. */
export function datasetOf<In, Out>(
  given: EvaluationDataset<In, Out> | readonly EvaluationCase<In, Out>[],
): EvaluationDataset<In, Out> {
  const candidate: unknown = given;
  if (Array.isArray(candidate)) return Dataset.of(candidate as readonly EvaluationCase<In, Out>[]);
  if (typeof (candidate as { readonly read?: unknown } | null)?.read === "function")
    return given as EvaluationDataset<In, Out>;
  throw new ValidationError(
    `The dataset must be a list of cases or a Dataset, got: ${preview(given)}`,
  );
}

/** Cases that can be read several times. */
export type Dataset<In = unknown, Out = unknown> = EvaluationDataset<In, Out>;
