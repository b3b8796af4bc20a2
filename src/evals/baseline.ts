import { readFile } from "node:fs/promises";
import type { EvaluationDataset } from "./evaluation-case.js";
import type { EvaluationResult } from "./evaluation-result.js";
import { BaselineError } from "../contracts/evaluation-errors.js";
import { preview } from "../contracts/validation.js";
import { messageOf } from "../util/errors.js";
import { asFields, asList } from "../util/objects.js";
import { datasetDifference } from "./datasets/dataset-difference.js";

/** Reads the result of an evaluation from a JSON file. @throws BaselineError for anything else. */
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

/** The baseline of an evaluation of the dataset, which has this hash. @throws BaselineError */
export async function baselineOf(
  given: string | EvaluationResult | undefined,
  { dataset: read, hash }: { readonly dataset: EvaluationDataset; readonly hash: string },
): Promise<EvaluationResult | undefined> {
  if (given === undefined) return undefined;
  const baseline =
    typeof given === "string"
      ? await readEvaluation(given)
      : checkedEvaluation(given, "The baseline");
  const { dataset, name } = baseline;
  if (dataset.hash === hash) return baseline;
  const difference = await datasetDifference(read, baseline);
  throw new BaselineError(
    `The baseline '${preview(name)}' is of another version of the dataset: its hash is ${dataset.hash.slice(0, 12)}, that of the dataset is ${hash.slice(0, 12)}${difference === "" ? "" : `; ${difference}`}`,
    {
      hint: "Evaluate the baseline's version of the target with this dataset, and compare with that.",
    },
  );
}

function checkedEvaluation(value: unknown, what: string): EvaluationResult {
  const fields = asFields(value);
  const refuse = (problem: string): never => {
    throw new BaselineError(`${what} ${problem}`);
  };
  if (fields?.["format"] !== "agentensemble-evaluation") return refuse("is no evaluation");
  if (fields["version"] !== 1)
    return refuse(
      `is an evaluation of version ${preview(fields["version"])}; this program reads 1`,
    );
  const isSound =
    typeof asFields(fields["dataset"])?.["hash"] === "string" &&
    Array.isArray(fields["scores"]) &&
    asList(fields["cases"]).every(
      (one) =>
        typeof asFields(one)?.["id"] === "string" && Array.isArray(asFields(one)?.["trials"]),
    );
  return isSound ? (value as EvaluationResult) : refuse("is an incomplete evaluation");
}
