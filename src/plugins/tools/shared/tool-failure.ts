import { AccessDeniedError, FileAccessError } from "../../../contracts/state-errors.js";
import { ToolResult } from "../../../contracts/tool-result.js";

/**
 * Returns the failed result for an error of a jail. Rethrows any other error, such as a
 * cancellation.
 */
export function toFailure(e: unknown): ToolResult {
  if (AccessDeniedError.isInstance(e) || FileAccessError.isInstance(e))
    return ToolResult.failure(e.message);
  throw e;
}
