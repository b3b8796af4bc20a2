import type { ModelCallError } from "../../../contracts/errors.js";

/** Statuses that stay what they are however often one asks. */
const FINAL_STATUSES: readonly number[] = Object.freeze([400, 401, 402, 403, 404, 413]);
const FINAL_CODES: readonly string[] = Object.freeze([
  "AE_MODEL_AUTH",
  "AE_MODEL_QUOTA",
  "AE_MODEL_BAD_REQUEST",
  "AE_MODEL_CONTEXT_LENGTH",
]);

/** Whether the same call to the same model may succeed. The kind of failure counts for more than what the provider says about it. */
export function mayPass(failure: ModelCallError): boolean {
  if (
    FINAL_CODES.includes(failure.code) ||
    (failure.status !== undefined && FINAL_STATUSES.includes(failure.status))
  )
    return false;
  return failure.retryable || failure.code === "AE_MODEL_TIMEOUT";
}

/** Whether another model may do better: always, unless the request itself is wrong. A model that does not exist is reported as a bad request with status 404. */
export function anotherModelMayHelp(failure: ModelCallError): boolean {
  return failure.code !== "AE_MODEL_BAD_REQUEST" || failure.status === 404;
}
