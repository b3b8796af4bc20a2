import type { EnsembleAccess } from "../../../contracts/ensemble-access.js";
import type { Journal } from "../../../contracts/journal.js";
import type { EnsembleOutput } from "../../../contracts/output.js";
import type { RunOptions } from "../../../contracts/run.js";
import { ValidationError } from "../../../contracts/errors.js";
import { keptInputs } from "./kept-inputs.js";

/** Options of a resumed run without its id. */
export type ResumeOptions = Omit<RunOptions, "runId">;

/**
 * Continues a stored run with its original inputs and tags.
 * @throws ValidationError for an unknown run, and for inputs that JSON can't represent; the errors
 * of the run.
 */
export async function resumeKept(
  journal: Journal,
  ensemble: EnsembleAccess,
  runId: string,
  options: ResumeOptions = {},
): Promise<EnsembleOutput> {
  const record = await journal.get(runId);
  if (record === undefined) throw new ValidationError(`There is no run '${runId}' to resume`);
  const inputs = keptInputs(record);
  return ensemble.runAgain(inputs, { tags: record.tags, ...options, runId });
}
