import { AccessDeniedError, FileAccessError } from "../../../contracts/state-errors.js";
import { ToolResult } from "../../../contracts/tool.js";

/** What a model is told when a jail says no. Anything else is thrown on, a cancellation among it. */
export function toFailure(e: unknown): ToolResult {
  if (AccessDeniedError.isInstance(e) || FileAccessError.isInstance(e))
    return ToolResult.failure(e.message);
  throw e;
}
