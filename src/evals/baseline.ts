import { readFile } from "node:fs/promises";
import type { EvaluationDataset } from "./evaluation-case.js";
import type { AnyEvaluation } from "./evaluation-options.js";
import type { DatasetChanges, EvaluationResult } from "./evaluation-result.js";
import { BaselineError } from "../contracts/evaluation-errors.js";
import { preview } from "../contracts/validation.js";
import { messageOf } from "../util/errors.js";
import { asFields } from "../util/objects.js";
import { changesText, datasetChanges } from "./datasets/dataset-difference.js";

/**
 * Reads the result of an evaluation from a JSON file.
 * @throws BaselineError for any other content.
 */
export async function readEvaluation(path: string): Promise<EvaluationResult> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    throw new BaselineError(`Can't read the evaluation '${preview(path)}': ${messageOf(cause)}`, {
      cause,
      hint: "Write one with: agentensemble eval <file> --out result.json",
    });
  }
  return checkedEvaluation(value, `'${preview(path)}'`);
}

/** A baseline that contains only the comparable cases. */
export interface UsedBaseline {
  readonly result: EvaluationResult;
  /** Present if the baseline has another version of the dataset. */
  readonly datasetChanges?: DatasetChanges;
}

/** Returns the baseline for the dataset with this hash. @throws BaselineError */
export async function baselineOf(
  { baseline: given, onDatasetChange }: Pick<AnyEvaluation, "baseline" | "onDatasetChange">,
  { dataset: read, hash }: { readonly dataset: EvaluationDataset; readonly hash: string },
): Promise<UsedBaseline | undefined> {
  if (given === undefined) return undefined;
  const baseline =
    typeof given === "string"
      ? await readEvaluation(given)
      : checkedEvaluation(given, "The baseline");
  const { dataset, name } = baseline;
  if (dataset.hash === hash) return { result: baseline };
  const changes = await datasetChanges(read, baseline);
  if (changes !== undefined && onDatasetChange === "compare") {
    const changed = new Set(changes.changed);
    const cases = baseline.cases.filter(({ id }) => !changed.has(id));
    return { result: { ...baseline, cases }, datasetChanges: changes };
  }
  const difference = changes === undefined ? "" : changesText(changes);
  throw new BaselineError(
    `The baseline '${preview(name)}' is of another version of the dataset: its hash is ${dataset.hash.slice(0, 12)}, that of the dataset is ${hash.slice(0, 12)}${difference === "" ? "" : `; ${difference}`}`,
    {
      hint:
        changes === undefined
          ? "Evaluate the baseline's version of the target with this dataset, and compare with that."
          : "Evaluate the baseline's version of the target with this dataset, or compare the unchanged cases with: onDatasetChange: 'compare' (--allow-dataset-change).",
    },
  );
}

function checkedEvaluation(value: unknown, what: string): EvaluationResult {
  const fields = asFields(value);
  const refuse = (problem: string): never => {
    throw new BaselineError(`${what} ${problem}`);
  };
  if (fields?.["format"] !== "agentensemble-evaluation") return refuse("is not an evaluation");
  if (fields["version"] !== 1)
    return refuse(
      `is an evaluation of version ${preview(fields["version"])}; this program reads version 1`,
    );
  const isSound =
    typeof asFields(fields["dataset"])?.["hash"] === "string" &&
    Array.isArray(fields["scores"]) &&
    Array.isArray(fields["cases"]) &&
    fields["cases"].every(isCase);
  return isSound ? (value as EvaluationResult) : refuse("is an incomplete evaluation");
}

function isCase(value: unknown): boolean {
  const { id, trials } = asFields(value) ?? {};
  return typeof id === "string" && Array.isArray(trials) && trials.every(isTrial);
}

function isTrial(value: unknown): boolean {
  const fields = asFields(value);
  const scores = asFields(fields?.["scores"]);
  return (
    typeof fields?.["trial"] === "number" &&
    scores !== undefined &&
    Object.values(scores).every(isScore)
  );
}

/** Returns whether the value is a score: comparisons calculate with it. */
function isScore(score: unknown): boolean {
  const fields = asFields(score);
  const value = fields?.["value"];
  return (
    fields !== undefined &&
    (value === undefined || (typeof value === "number" && value >= 0 && value <= 1))
  );
}
