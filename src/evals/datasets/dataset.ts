import type { EvaluationCase, EvaluationDataset } from "../evaluation-case.js";
import { ValidationError } from "../../contracts/errors.js";
import { preview } from "../../contracts/validation.js";
import { csvDataset, jsonlDataset } from "./file-datasets.js";

/** Creates datasets. Each reads its cases again in every pass and keeps none of them. */
export const Dataset = Object.freeze({
  /** From a list. */
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
   * From a file with one JSON object in each line: `{ "id", "input", "expected", "tags", "metadata"
   * }`.
   */
  jsonl: jsonlDataset,
  /**
   * From a CSV file with a header line. `id`, `expected` and `tags` (separated by `;`) are fields
   * of the case; `input` is its text, or all other columns are fields of the input.
   */
  csv: csvDataset,
});

/** Returns the dataset of an option. */
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

/** Cases that can be read more than once. */
export type Dataset<In = unknown, Out = unknown> = EvaluationDataset<In, Out>;
