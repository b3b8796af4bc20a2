import { createHash } from "node:crypto";
import type { KeptRun } from "../../../contracts/journal.js";
import type { Inputs } from "../../../contracts/types.js";
import { canonicalJson } from "../../../util/json/canonical.js";
import { survivesJson } from "../../../util/json/json-fidelity.js";
import { toJsonValue } from "../../../util/json/to-json-value.js";
import { isObject } from "../../../util/objects.js";
import { requireUnsealed } from "./sealed/sealed-data.js";
import { ValidationError } from "../../../contracts/errors.js";

/**
 * Prefix of the hash of inputs that JSON changes. They can be compared, but a run can't start from
 * the stored inputs.
 */
const INEXACT = "inexact:";

/** Returns the inputs as JSON data. */
export function inputsAsJson(inputs: Inputs): unknown {
  return toJsonValue(inputs);
}

/** Returns the SHA-256 of the inputs of a run. Equal inputs have equal hashes. */
export function inputsHash(inputs: Inputs): string {
  const text = canonicalJson(inputsAsJson(inputs));
  const hash = createHash("sha256").update(text).digest("hex");
  return survivesJson(inputs) ? hash : `${INEXACT}${hash}`;
}

/**
 * Returns the inputs of a run.
 * @throws ValidationError if its journal lacks the exact inputs; JournalError if they are
 * encrypted.
 */
export function keptInputs(run: KeptRun): Inputs {
  requireUnsealed(run);
  const { runId, inputs, inputsHash: hash } = run;
  if (isObject(inputs) && !hash.startsWith(INEXACT) && inputsHash(inputs) === hash) return inputs;
  throw new ValidationError(
    `The inputs of run '${runId}' are not in its journal: JSON can't represent them, or they contain secrets`,
    { hint: `Pass them: ensemble.run(inputs, { runId: "${runId}" }).` },
  );
}
