import type { EvaluationDataset } from "../evaluation-case.js";
import type { CaseResult, DatasetChanges, EvaluationResult } from "../evaluation-result.js";
import { preview } from "../../contracts/validation.js";
import { canonicalJson } from "../../util/json/canonical.js";
import { namedCase } from "./checked-case.js";

/** Maximum number of ids of each kind in a message. */
const NAMED_IDS = 3;

/**
 * Returns the cases that were added, removed or changed since the evaluation of another version.
 * Returns `undefined` if that evaluation did not store all of its cases.
 */
export async function datasetChanges(
  dataset: EvaluationDataset,
  { cases, dataset: earlier }: EvaluationResult,
): Promise<DatasetChanges | undefined> {
  if (cases.length !== earlier.cases) return undefined;
  const missing = new Map(cases.map((one) => [one.id, contentOf(one)]));
  const [added, changed]: [string[], string[]] = [[], []];
  let position = 0;
  for await (const given of dataset.read()) {
    const one = namedCase(given, position++);
    const before = missing.get(one.id);
    if (before === undefined) added.push(one.id);
    else if (before !== contentOf(one)) changed.push(one.id);
    missing.delete(one.id);
  }
  return { hash: earlier.hash, added, removed: [...missing.keys()], changed };
}

/** Formats the changes for a message. */
export function changesText({ added, removed, changed }: DatasetChanges): string {
  const parts = Object.entries({ added, removed, changed }).flatMap(([kind, list]) =>
    list.length === 0 ? [] : `${list.length} ${kind} (${namesOf(list)})`,
  );
  return parts.length === 0 ? "order or metadata of the cases changed" : parts.join(", ");
}

/** Metadata is not part of a result. */
function contentOf({
  input,
  expected,
  tags = [],
}: Pick<CaseResult, "input" | "expected"> & {
  readonly tags?: readonly string[] | undefined;
}): string {
  return canonicalJson({ input, expected, tags });
}

function namesOf(ids: readonly string[]): string {
  const names = ids.slice(0, NAMED_IDS).map((id) => preview(id, 60));
  return `${names.join(", ")}${ids.length > NAMED_IDS ? ", ..." : ""}`;
}
